"""What a user sees on the rarest ways through answers: streams, signs of life, tables, budgets of work and figures."""

import io
import json
import math
import os
import runpy
import signal
import sys
import threading
import time

import numpy as np
import pytest
from matplotlib.figure import Figure

import pe_spectra
from pe_spectra.cli import main, progress, streams
from pe_spectra.cli.columns import fit_columns
from pe_spectra.encodings import GivenArray, find_encoding
from pe_spectra.encodings.learned import Learned
from pe_spectra.encodings.sampled import Sampled
from pe_spectra.errors import FileError, InputError
from pe_spectra.faithfulness import closest_lag, measure_faithfulness
from pe_spectra.faithfulness.pair_lags import PairWords
from pe_spectra.inspection.resize import build_resize_matrix
from pe_spectra.metrics import invariance, linearity, probes
from pe_spectra.metrics.tables import check_table, count_product_work
from pe_spectra.plots.axes import place_label
from pe_spectra.plots.faithfulness import compose_faithfulness
from pe_spectra.plots.grid_spectrum import describe_planes, plot_grid_kernel
from pe_spectra.plots.inspection import compose_portrait
from pe_spectra.plots.low_bin import compose_low_bin
from pe_spectra.plots.reconstruction import compose_reconstruction, read_panel
from pe_spectra.plots.spectrum_words import describe_spectra, name_spectra
from pe_spectra.plots.style import fixed_style
from pe_spectra.portrait import draw_portrait, resize_encoding
from pe_spectra.reconstruction import reconstruct_positions
from pe_spectra.records.comparison import write_time
from pe_spectra.records.findings import simplify
from pe_spectra.records.spectrum import write_power
from pe_spectra.spectrum import compute_grid_spectrum, compute_spectrum, count_low_bin

# the program -----------------------------------------------------------------------------------------------


def test_the_package_itself_can_be_run(monkeypatch, capfd):
    monkeypatch.setattr(sys, "argv", ["pe_spectra", "--version"])
    previous = signal.getsignal(signal.SIGINT)
    try:
        with pytest.raises(SystemExit) as leaving:
            runpy.run_module("pe_spectra", run_name="__main__")
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN  # the answer is out: Ctrl-C could only spoil the end
    finally:
        signal.signal(signal.SIGINT, previous)
    assert leaving.value.code == 0
    assert capfd.readouterr().out == f"pe-spectra {pe_spectra.__version__}\n"
    assert "run_process" in runpy.run_module("pe_spectra.__main__", run_name="imported")


def test_an_interrupt_where_no_handler_can_be_set_ends_with_130(monkeypatch):
    """As where a host program runs the command line in a thread of its own."""

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("pe_spectra.cli.program.run", interrupt)
    codes = []
    thread = threading.Thread(target=lambda: codes.append(main()))
    thread.start()
    thread.join()
    assert codes == [130]


# standard streams ------------------------------------------------------------------------------------------


def test_an_answer_needs_a_standard_output(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(FileError, match="stdout: is closed"):
        streams.write_answer("answer")
    closed = io.StringIO()
    closed.close()
    monkeypatch.setattr(sys, "stdout", closed)
    with pytest.raises(FileError, match="stdout: cannot be written"):
        streams.write_answer("answer")


def test_a_reader_that_has_gone_is_no_error(monkeypatch):
    source, sink = os.pipe()
    os.close(source)
    with os.fdopen(sink, "w") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        assert streams.write_answer("answer") is False
        # nothing more fails, not even the last flush at the end of the interpreter
        stream.write("more")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no full device")
def test_a_full_output_is_said_and_a_full_error_stream_is_borne(monkeypatch):
    with open("/dev/full", "w", encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        with pytest.raises(FileError, match="stdout: no space left on device"):
            streams.write_answer("answer")
    with open("/dev/full", "w", encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stderr", stream)
        streams.write_error("lost")
    monkeypatch.setattr(sys, "stderr", None)
    streams.write_error("lost")


def test_a_closed_stream_is_no_terminal():
    with open(os.devnull, encoding="utf-8") as stream:
        assert not streams.is_terminal(stream)
    assert not streams.is_terminal(stream)
    assert not streams.is_terminal(None)


class _Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(("patience", "seen"), [(0.001, True), (60.0, False)])
def test_a_terminal_sees_signs_of_life_of_long_work_alone(monkeypatch, patience, seen):
    monkeypatch.setattr(progress, "_PATIENCE", patience)
    monkeypatch.setenv("TERM", "xterm")
    terminal = _Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with progress.Progress("auditing") as shown:
        shown.step(3, 7)
        end = time.monotonic() + 10
        while True:
            time.sleep(0.01)
            if not seen or "3 of 7" in terminal.getvalue() or time.monotonic() > end:
                break
    written = terminal.getvalue()
    clear = "\r\x1b[2K"
    assert (f"{clear}auditing, 3 of 7 (0 s)" in written) == seen
    assert written.endswith(clear) == seen
    assert bool(written) == seen


# commands --------------------------------------------------------------------------------------------------


def test_a_folder_whose_name_is_too_long_is_refused(refuse):
    assert refuse(f"figures --output {'x' * 400}").endswith("is no possible folder (--output)")


def test_a_model_that_turns_no_layer_has_nothing_to_compare(refuse, tmp_path):
    keys = {"model_type": "smollm3", "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 4}
    keys |= {"rope_theta": 5e6, "max_position_embeddings": 4096}
    names = {"some.json": [1, 1, 1, 0], "none.json": [0, 0, 0, 0]}
    for name, layers in names.items():
        (tmp_path / name).write_text(json.dumps({**keys, "no_rope_layers": layers}), encoding="utf-8")
    line = refuse("diff some.json none.json")
    assert line == "none.json: turns no layer (no_rope_layers); diff compares rotations"


def test_paths_lose_their_beginnings_only_while_they_stay_apart():
    ends = "/llama/checkpoints/config.json"
    far, near = "/models/a" + ends, "/models/b" + ends
    assert fit_columns(["file", "d"], [[far, "1"], [near, "2"]], 34, narrow=["file"]) is None
    found = fit_columns(["file", "d"], [[far, "1"], ["short.json", "2"]], 34, narrow=["file"])
    assert [row[0] for row in found.rows] == ["..." + ends[6:], "short.json"]


# encodings -------------------------------------------------------------------------------------------------


def test_real_positions_need_an_encoding_and_positions():
    with pytest.raises(InputError, match="this encoding takes no real positions"):
        Sampled(encoding=find_encoding("alibi")(), times=GivenArray(np.arange(3.0)))
    with pytest.raises(InputError, match="positions are missing"):
        Sampled(encoding=find_encoding("sinusoidal")())
    three = Sampled(encoding=find_encoding("sinusoidal")(d=8), times=GivenArray(np.array([0.5, 1.5, 2.5])))
    with pytest.raises(InputError, match=r"a position has no row \(3\); 0 to 2 is accepted"):
        three.table([3])
    assert three.bound_error(three.table(3)) < 1e-13
    # of an encoding whose frequencies are not listed, nothing bounds the rounding
    ramp = Sampled(encoding=find_encoding("ramp")(), times=GivenArray(np.array([0.5, 1.5])))
    assert ramp.bound_error(ramp.table(2)) is None


def test_a_sum_with_a_part_of_unknown_error_has_an_unknown_error():
    sinusoidal, rnn = find_encoding("sinusoidal")(d=64), find_encoding("rnn")()
    hybrid = find_encoding("hybrid")
    known, unknown = hybrid(of=(sinusoidal, sinusoidal)), hybrid(of=(sinusoidal, rnn))
    assert known.bound_error(known.table(8)) > 0
    assert unknown.bound_error(unknown.table(8)) is None


# budgets ---------------------------------------------------------------------------------------------------


def test_a_metric_that_would_take_minutes_is_left_out_and_said(monkeypatch):
    table = np.random.default_rng(0).normal(size=(64, 4))
    assert invariance.measure_translation_invariance(table) is not None
    work = count_product_work(table)
    for module in (invariance, probes):
        monkeypatch.setattr(module, "MAX_PRODUCT_WORK", work - 1)
    monkeypatch.setattr("pe_spectra.metrics.tables.MAX_PRODUCT_WORK", work - 1)
    assert invariance.measure_translation_invariance(table) is None
    found = linearity.measure_shift_linearity(table)
    assert found.worst is None
    assert found.note == "shift linearity of a 64 x 4 table is beyond the budget of work"
    beyond = probes.measure_extrapolation(table[:32], table[32:])
    assert (beyond.rmse, beyond.smallest_separation) == (None, None)
    assert beyond.notes == (
        "the position probe of a 64 x 4 table is beyond the budget of work",
        "the smallest separation of a 64 x 4 table is beyond the budget of work",
    )


def test_many_near_lags_are_all_computed_with_the_same_answer(monkeypatch):
    words = find_encoding("sinusoidal")(d=256).words()
    pairs = PairWords(words=words, count=128, amplitude=1.0, phase=0.0)
    few = closest_lag.find_closest_lag(pairs, 4096)
    monkeypatch.setattr(closest_lag, "_NEAR_TERMS", 0)
    assert closest_lag.find_closest_lag(pairs, 4096) == few


# numbers in words ------------------------------------------------------------------------------------------


def test_what_json_cannot_hold_becomes_what_it_can():
    found = simplify(
        {"array": np.arange(2), "pair": (np.float32(0.5), math.inf), 3: {"deep": np.int64(4), "not": math.nan}}
    )
    assert found == {"array": [0, 1], "pair": [0.5, None], "3": {"deep": 4, "not": None}}
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_small_times_and_numbers_that_round_up_to_a_power_of_ten():
    assert write_time(0.25) == "0.25 s"
    assert [write_power(math.log(value)) for value in (9.94e5, 9.96e5, 9.96e-5)] == ["9.9e+05", "1.0e+06", "1.0e-04"]


def test_what_cannot_be_held_is_refused_before_it_is_made():
    # a view: one number in memory
    with pytest.raises(InputError, match="table has too many entries"):
        check_table(np.broadcast_to(1.0, (8193, 8192)))
    with pytest.raises(InputError, match="old x new size is too large"):
        build_resize_matrix(1 << 14, 1 << 13)


def test_a_learned_table_of_unknown_length_is_said_to_be_one(cli, tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "gpt2", "n_embd": 64, "n_head": 4}), "utf-8")
    answer = json.loads(cli("audit config.json --json").out)
    assert "a table of positions whose number of rows is not stated" in json.dumps(answer["verdict"])


# figures ---------------------------------------------------------------------------------------------------


def given(table, **keys):
    """An encoding of a table."""
    return Learned(values=GivenArray(np.asarray(table, dtype=float), origin="table.npy"), **keys)


@fixed_style()
def make_axes():
    """Axes of their own."""
    return Figure().add_subplot()


def list_texts(figure):
    """All texts of a figure, in one."""
    texts = [text.get_text() for text in figure.texts]
    texts += [text.get_text() for axes in figure.axes for text in axes.texts]
    return " ".join(" ".join(texts).split())


def test_a_label_without_a_place_is_not_written():
    axes = make_axes()
    assert place_label(axes, "name", []) is None
    assert not axes.texts


def test_an_encoding_without_a_closest_pair_gets_a_title():
    result = measure_faithfulness(find_encoding("sinusoidal")(d=8), length=1)
    assert result.min_separation is None
    assert "How far apart the codes of two positions are" in list_texts(compose_faithfulness(result))


def test_biases_over_a_grid_have_no_toeplitz_share():
    with_share, without = (compute_grid_spectrum(find_encoding(name)()) for name in ("sincos2d", "swin"))
    assert any(line.startswith("Toeplitz share") for line in describe_planes([with_share]))
    assert not any(line.startswith("Toeplitz share") for line in describe_planes([without]))


def test_a_grid_of_one_row_is_drawn():
    plane = compute_grid_spectrum(given(np.random.default_rng(0).normal(size=(16, 4)), grid="1x16"))
    axes = make_axes()
    plot_grid_kernel(axes, plane)
    assert axes.images or axes.collections


def test_a_portrait_of_one_row_has_no_steps():
    words = [axes.get_title(loc=place) for axes in compose_portrait(draw_portrait(given([[1.0, 2.0]]))).axes
             for place in ("left", "center")]  # fmt: skip
    assert not any("Step" in word for word in words)


def test_a_table_made_smaller_gets_no_line_at_its_old_frequencies():
    """The line says where the old table has nothing more: a smaller one has no such frequencies."""
    encoding = given(np.random.default_rng(0).normal(size=(24, 4)).cumsum(axis=0))
    figure = compose_portrait(draw_portrait(encoding, resized=resize_encoding(encoding, (16,))))
    (panel,) = [axes for axes in figure.axes if "Resized 24 to 16" in axes.get_title(loc="left")]
    assert not [line for line in panel.lines if len(set(line.get_xdata())) == 1]


def test_panels_of_an_odd_number_leave_no_empty_frame():
    sinusoidal = find_encoding("sinusoidal")(d=16)
    spectra = [compute_spectrum(sinusoidal, bandwidth=width) for width in (1.0, 2.0, 4.0, 8.0, 16.0)]
    figure = compose_reconstruction(*(reconstruct_positions(spectrum, [4]) for spectrum in spectra))
    assert len(figure.axes) == 5


def test_more_than_three_shares_are_not_listed_in_the_title():
    counts = [count_low_bin(find_encoding("sinusoidal")(d=d)) for d in (32, 64, 128, 256)]
    assert "Shares of the frequencies that lie in the lowest bin" in list_texts(compose_low_bin(*counts))
    assert "% of the frequencies lie in the lowest bin" in list_texts(compose_low_bin(*counts[:3]))


def test_spectra_are_told_apart_by_what_differs():
    sinusoidal = find_encoding("sinusoidal")(d=32)
    plain, mirrored = (compute_spectrum(sinusoidal, boundary=boundary) for boundary in ("none", "reflect"))
    names = name_spectra([plain, mirrored])
    assert [name.rpartition(", ")[2] for name in names] == ["boundary none", "boundary reflect"]
    heads = [compute_spectrum(find_encoding("alibi")(head_count=count)) for count in (4, 8)]
    (line,) = [line for line in describe_spectra(heads) if "median over heads" in line]
    assert "alibi" in line
    (line,) = [line for line in describe_spectra(heads[:1]) if "median over 4 heads" in line]


def test_a_reconstruction_that_never_falls_to_half_says_so():
    spectrum = compute_spectrum(find_encoding("sinusoidal")(d=16), bandwidth=0.01)
    result = reconstruct_positions(spectrum, [4])
    assert read_panel(result).fwhm is None
    words = list_texts(compose_reconstruction(result))
    assert "A single position comes back without ever falling to half of its peak" in words
    assert "wide at half" not in words


def test_without_smoothing_neither_bandwidth_nor_boundary_is_named():
    plain, smooth = compute_spectrum(find_encoding("dft")(d=16)), compute_spectrum(find_encoding("sinusoidal")(d=16))
    texts = [list_texts(compose_reconstruction(reconstruct_positions(one, [4]))) for one in (plain, smooth)]
    for word in ("bandwidth", "boundary"):
        assert [word in text for text in texts] == [False, True]


def test_a_figure_of_numbers_near_the_largest_is_drawn_or_refused(cli, tmp_path):
    """Quietly: what the drawing library says of its axes is nobody's business."""
    rows = np.random.default_rng(0).uniform(-1, 1, size=(16, 4))
    for name, scale in (("large", 1.7e308), ("less", 1e307), ("small", 1e-310)):
        np.save(tmp_path / f"{name}.npy", rows * scale)
    done = cli("inspect large.npy --figure a.png")
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "error: a figure of the table cannot be drawn (1.69e+308); numbers up to 1e+307 are accepted;"
        " without --figure the answer is given\n"
    )
    for line in ("faithfulness -e large.npy", "inspect less.npy", "inspect small.npy"):
        done = cli(f"{line} --figure a.png")
        assert (done.code, "Warning" in done.err, (tmp_path / "a.png").exists()) == (0, False, True)
