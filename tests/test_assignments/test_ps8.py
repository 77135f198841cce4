"""Problem set 8, decoding and evaluation."""

import re

import numpy as np
import pytest
import torch
from sacrebleu.metrics import BLEU

from attn.decoding import greedy
from attn.reference import sentence_bleu
from notebooks.build import LANGUAGES
from tests.test_assignments.proofs import Answers, Proofs

answers = Answers("ps8")


def text(row):
    return " ".join(map(str, row[row != 0]))


class TestPS8(Proofs):
    answers = answers

    def test_greedy_search_is_that_of_the_package(self):
        for (ids, scores), case in self.oracle_and_cases(answers.GREEDY):
            table, end = torch.tensor(case["logits"]), int(case["end"])
            prompt = torch.tensor(case["start"])[:, None]
            limit = int(case["max_new_tokens"])
            found = greedy(
                lambda written, cache, table=table: table[written[:, -1]],
                prompt,
                end_id=end,
                max_new_tokens=limit,
            )[:, 1:]
            np.testing.assert_array_equal(ids[:, : found.shape[1]], found.numpy())
            assert not ids[:, found.shape[1] :].any()
            log_p, path = table.log_softmax(-1), np.column_stack([case["start"], ids])
            steps = log_p[path[:, :-1], path[:, 1:]].numpy() * (path[:, 1:] != 0)
            np.testing.assert_allclose(scores, steps.sum(axis=1))

    def test_a_step_gives_the_last_row_of_the_whole_attention(self):
        for (output, keys, values), case in self.oracle_and_cases(answers.STEP):
            for b, n in enumerate(case["lengths"]):
                query = torch.tensor(case["x"][b] @ case["w_q"])[None]
                new = case["x"][b] @ case["w_k"], case["x"][b] @ case["w_v"]
                whole = (
                    torch.tensor(np.vstack([case[name][b, :n], row]))
                    for name, row in zip(("keys", "values"), new, strict=True)
                )
                right = torch.nn.functional.scaled_dot_product_attention(query, *whole)
                np.testing.assert_allclose(output[b], right[0].numpy(), atol=1e-9)
                np.testing.assert_array_equal(keys[b, n + 1 :], case["keys"][b, n + 1 :])
                np.testing.assert_array_equal(values[b, :n], case["values"][b, :n])

    def test_a_forbidden_token_would_repeat_an_n_gram_and_no_other_would(self):
        for allowed, case in self.oracle_and_cases(answers.ALLOWED):
            n = int(case["n"])
            for row, sentence in zip(allowed, case["ids"].tolist(), strict=True):
                for token, may in enumerate(row):
                    whole = [*sentence, token]
                    grams = [tuple(whole[i : i + n]) for i in range(len(whole) - n + 1)]
                    assert may == (grams.count(tuple(whole[len(whole) - n :])) < 2 or not grams)

    def test_bleu_is_that_of_sacrebleu(self):
        for (precisions, penalty, score), case in self.oracle_and_cases(answers.BLEU):
            max_n = int(case["max_n"])
            metric = BLEU(max_ngram_order=max_n, tokenize="none", smooth_method="none", force=True)
            references = case["references"].swapaxes(0, 1)
            found = metric.corpus_score(
                [text(row) for row in case["candidates"]],
                [[text(row) for row in group] for group in references],
            )
            assert 100 * score == pytest.approx(found.score)
            assert 100 * precisions == pytest.approx(found.precisions)
            assert penalty == pytest.approx(found.bp)

    def test_bleu_of_one_sentence_is_that_of_the_chapter(self):
        one, other = np.array([3, 3, 5, 7]), np.array([3, 5, 7, 9, 2])
        oracle = self.tasks[answers.BLEU].exercise.oracle
        for mine, theirs in zip(
            oracle(one[None], other[None, None], 2), sentence_bleu(one, other, 2), strict=True
        ):
            np.testing.assert_allclose(mine, theirs)

    def test_a_score_is_that_of_its_sentence_and_a_beam_of_one_is_greedy(self):
        greedy_search = self.tasks[answers.GREEDY].exercise.oracle
        alone = 0
        for (ids, score), case in self.oracle_and_cases(answers.MENDED):
            table, end = case["log_probabilities"], case["end"]
            path = np.array([case["start"], *ids[ids != 0]])
            assert score == pytest.approx(table[path[:-1], path[1:]].sum())
            assert not (path[1:-1] == end).any()
            if self.tasks[answers.MENDED].group(case) == "beam of one":
                written, scores = greedy_search(
                    table, case["start"][None], end, case["max_new_tokens"]
                )
                np.testing.assert_array_equal(ids, written[0])
                assert score == pytest.approx(scores[0])
                alone += 1
        assert alone == 10

    def test_the_sentences_of_the_example_are_worth_what_the_text_says(self, capsys):
        _, printed = self.executed(capsys=capsys)
        assert any("1: 0.54  hace frío <eos>\n2: 0.30  no <eos>" in out for out in printed)

    def test_the_experiment_measures_what_the_rubric_says(self, capsys):
        names, _ = self.executed(capsys=capsys)
        language, best, drawn = (names[n] for n in ("language", "best_of_beam", "mean_of_drawn"))
        widths, four = (1, 4, 16, 64), language(4)
        found = {k: [best(language(k), width)[0] for width in widths] for k in (1, 2, 4, 8)}
        assert found == {1: [5] * 4, 2: [5] * 4, 4: [5, 5, 5, 0], 8: [5, 5, 0, 0]}
        complete = best(four, 1)[1]
        assert complete == pytest.approx((0.98 / 4) ** 5) and 4**5 == 1024
        changed = best(language(4, p_end=0.0005), 64)
        assert changed[0] == 5
        numbers = [
            f"{drawn(four):.2f}",
            f"{best(four, 64)[1]:.2f}",
            f"{complete:.5f}",
            f"{1024 * complete:.2f}",
            f"{best(language(2), 64)[1]:.3f}",
            f"{(0.98 / 4) ** 2:.2f}",
            "0.0005",
            f"{changed[1]:.5f}",
        ]
        assert {f"{drawn(language(k)):.2f}" for k in (1, 2, 4, 8)} == {numbers[0]}
        for edition in LANGUAGES:
            assert re.findall(r"\d+\.\d+", self.cells(edition)[-1].source) == numbers
        # The other changes of the rubric: fewer words, and two synonyms as one token.
        assert best(language(4, n_words=2), 64)[0] == 2 and best(language(1), 64)[0] == 5
