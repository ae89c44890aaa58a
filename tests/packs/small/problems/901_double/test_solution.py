"""What a solution of 901 must do."""


def test_a_list_is_doubled(solution, evidence, expect):
    """Every number of the list is doubled.

    zh: 列表中的每个数都翻倍。
    """
    doubled = solution.double([1, 2, 3])
    expect.equal(doubled, [2, 4, 6], ("double([1, 2, 3]) is wrong", "double([1, 2, 3]) 的结果不对"))
    evidence.exact("doubled", doubled)


def test_fresh_numbers_are_doubled(solution, evidence, rng):
    """Numbers drawn anew in each run are doubled.

    zh: 每次运行新抽取的数也要翻倍。
    """
    numbers = [rng.randrange(1000) for _ in range(20)]
    evidence.exact("doubled", solution.double(numbers), labels=[f"double of {number}" for number in numbers])


def test_a_counter_adds_up(solution, evidence, expect):
    """A counter returns the sum so far.

    zh: 计数器返回到目前为止的总和。
    """
    counter = solution.Counter()
    sums = [counter.add(1), counter.add(2, twice=True)]
    expect.equal(sums, [1, 5], ("the sums are wrong", "总和不对"))
    evidence.exact("sums", sums)
