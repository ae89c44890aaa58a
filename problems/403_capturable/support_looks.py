"""What a learner is told to look at, in both languages."""

from __future__ import annotations

Pair = tuple[str, str]

LOOK_NAN: Pair = (
    "A NaN comes from a side that is not taken: 0 * inf and 0 * nan are nan. Choose one of two values, weigh neither.",
    "NaN 来自没有被选中的一侧：0 * inf、0 * nan 都是 nan。应当二选一，而不是加权相加。",
)
LOOK_FROZEN: Pair = (
    "A replay runs no Python. Whatever Python knew while the graph was captured (a number, a branch, a list, a bound "
    "name) is part of the graph for ever.",
    "重放时不执行任何 Python。捕获时 Python 所知道的一切（数值、分支、列表、名字的绑定），从此固定在图里。",
)
LOOKS: dict[str, Pair] = {
    "route": (
        "Row i is x[i] @ experts[expert[i]]; a row of padding is zeros, whatever stands in x.",
        "第 i 行是 x[i] @ experts[expert[i]]；填充行是零，不论 x 里有什么。",
    ),
    "penalise": (
        "Concerned are the tokens among the row's last `window` remembered ones, each once. PAD is no token, "
        "least of all token 0.",
        "只涉及该行最近记住的 `window` 个 token，每个一次。PAD 不是 token，更不是 0 号 token。",
    ),
    "hold_stops": (
        "Only in rows that have generated fewer than min_tokens, and only the stop tokens.",
        "只在已生成数少于 min_tokens 的行里，只对停止 token。",
    ),
    "accept": (
        "A draft counts only if all before it were right. Behind the first wrong one stands PAD, right guesses or not.",
        "前面的全猜对，这一个才算数。第一个猜错的之后都是 PAD，后面猜对也不收。",
    ),
    "close": (
        "A stop token is still emitted, PAD from the next call on; finished is the caller's tensor, changed in place.",
        "停止 token 仍要输出，下一次调用起才是 PAD；finished 是调用者的张量，要原地改。",
    ),
}
"""The rule of each part, for a result that is wrong in an eager call."""
LOOK_HOST: Pair = (
    "Python asked for a value that only the device knows: item(), tolist(), if, nonzero(), unique(), x[mask], a wait. "
    "Compute it for every element, in a shape that does not depend on data.",
    "Python 要了一个只有设备才知道的值：item()、tolist()、if、nonzero()、unique()、x[mask]，或者一次等待。"
    "改成对每个元素都算，形状不依赖数据。",
)
LOOK_UPLOAD: Pair = (
    "A list or a number of the host is uploaded in each call, or a tensor is brought to the host. Upload once, in the "
    "constructor.",
    "每次调用都把主机上的列表或数值上传到设备，或者把张量取回主机。上传一次就够了：在构造函数里。",
)
LOOK_ARGUMENT: Pair = (
    "Arguments are the caller's, who reads them again: a graph's static input is filled once a step, and read by all.",
    "参数归调用者，还要再读：图的静态输入每步只填一次，人人都读它。",
)
