"""SmolLM2 with LoRA: how questions are read and answers judged, and some stored results."""

import itertools

import pytest
import torch

from experiments import answering_lora as bench
from experiments.runner import read

STORED = read(bench.RESULTS)


@pytest.fixture(scope="module")
def smollm2(needed):
    needed("smollm2")
    torch.set_num_threads(1)
    bench.put(bench.untrained(0))
    return bench.adapted()[0]


def test_no_exam_triple_is_in_training_in_any_order():
    exam, others = ({frozenset(each) for each in part} for part in bench.triples())
    assert len(exam) == bench.N_TEST and all(len(each) == 3 for each in exam | others)
    assert not exam & others


@pytest.mark.slow
def test_only_the_largest_number_and_the_end_of_the_line_are_right(smollm2):
    asked = [(52, 50, 94), (31, 77, 12)]
    said = ["94\n", "94", "52\n", "\n", "77\n", "94\n", "77\n\n", " 77\n"]
    found = bench.passed(asked, [bench.encoded(each) for each in said])
    assert found.tolist() == [[1, 0, 0, 0], [1, 0, 0, 0]]


@pytest.mark.slow
def test_sharing_one_pass_over_a_question_gives_the_same_gradient(smollm2):
    """The reference reads question and answer as one text; both LoRA matrices are nonzero."""
    torch.manual_seed(1)
    bench.put([torch.randn_like(p) * 0.02 for p in bench.adapted()[1]])
    ids = bench.questions([(52, 50, 94), (31, 77, 12)])
    said = [bench.encoded(each) for each in ("94\n", "5\n", "77\n", "3")]
    found, learns = bench.logged(ids, said), bench.adapted()[1]
    whole = []
    for i, answer in enumerate(said):
        row = torch.tensor([*ids[i // 2].tolist(), *answer])
        logits = smollm2(row[None])[0][0].log_softmax(dim=-1)
        whole.append([logits[k - 1, row[k]] for k in range(ids.shape[1], len(row))])
    for row, expected in zip(found, whole, strict=True):
        torch.testing.assert_close(row[: len(expected)], torch.stack(expected), atol=1e-3, rtol=0)
        assert not row[len(expected) :].any()
    expected = torch.autograd.grad(sum(map(sum, whole)), learns)
    for one, other in zip(torch.autograd.grad(found.sum(), learns), expected, strict=True):
        torch.testing.assert_close(one, other, atol=2e-3 * other.abs().max().item(), rtol=0)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ("verifier", "verifier, leash"))
def test_the_first_steps_of_each_training_are_as_stored(smollm2, kind):
    start, losses = bench.tuned(0)
    assert losses == pytest.approx(STORED["examples"]["0"]["losses"], abs=0.02)
    bench.put(start)
    told, n = [], 2
    found = list(itertools.islice(bench.rewarding(0, kind, start, told), n))
    assert len(found) == n and told == pytest.approx(STORED[kind]["0"]["right"][:n], abs=0.1)


def test_every_row_that_the_page_shows_is_stored():
    assert STORED["seeds"] == list(bench.SEEDS)
    for name in bench.rows():
        kind, _, seed = name.rpartition(", ")
        assert (STORED[kind][seed] if kind else STORED[name])["drawn"] >= 0
