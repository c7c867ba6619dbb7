"""What can be found in a table: each kind of finding with its words; `KINDS` has them by code."""

from __future__ import annotations

from pe_spectra.inspection.row_findings import RowKind

_VIT = "Dosovitskiy et al. 2021, arXiv:2010.11929 (tables interpolated for larger images)"
_BERT = "Devlin et al. 2019, arXiv:1810.04805 (90 % of the steps with length 128, the rest with 512)"
_NOISE = "independent rows of zero mean in d dimensions have cosines ~ N(0, 1/d)"
SPECIAL_FIRST_ROW = RowKind(
    code="special-first-row",
    levels=("warning", "note"),
    phrase="the first row does not belong to the sequence",
    brief="{rows} {are} special",
    sentence="{Rows} {do} not belong to the sequence: its norm is {sizes} times the median, its cosine with the next "
    "row {similar}; {advice}.",
    reasoning="The first row often stands for a CLS or BOS token, not for a position. Its norm can be many "
    "times the others', and one such row puts a white floor under every spectrum. Leave it out (prefix=1).",
    formula="row 0 has an outlying norm (see outlier-rows), is zero, or has a cosine with row 1 that is lower "
    "than usual by 0.3 and eight robust deviations, and by 0.3 than in a tenth of all pairs, with 1 - cosine at least "
    "1.85 times that of rows 1 and 2; "
    "and the step to row 1 is 1.3 times and two deviations longer than ln ||step|| = a + b ln(1 + j), fitted "
    "to the next eight, lets expect (a curve that starts at zero has no special row); found without columns that jump, "
    "too (see seam)",
    references=(_VIT, "Radford et al. 2021, arXiv:2103.00020 (CLIP: row 0 is the class token)"),
)
PADDING_OFFSET = RowKind(
    code="padding-offset",
    levels=("warning", "note"),
    phrase="the first rows do not belong to the sequence",
    brief="{rows} {do} not belong to the sequence",
    sentence="{Rows} {do} not belong to the sequence: norms {sizes} times the median, cosines {similar} with row "
    "{next}; positions begin at row {next} ({advice}).",
    reasoning="Some models keep rows in front for padding: positions are then counted from 2. Such rows are "
    "zero, or little trained. A reader who takes row 0 for position 0 is off by two everywhere.",
    formula="two to four rows in front that are all zero, outlying, or unlike the first row behind them (as "
    "special-first-row, at their lag; or whose cosine with what the four rows behind predict of them is lower "
    "by 0.3 and five deviations), where that row continues as the table does and the step to it is a break",
    references=(
        "huggingface/transformers: models/opt (offset 2), models/roberta (padding_idx + 1)",
        "Ott et al. 2019, arXiv:1904.01038 (fairseq: positions start at padding_idx + 1)",
    ),
)
SPECIAL_LAST_ROWS = RowKind(
    code="special-last-rows",
    levels=("warning",),
    phrase="the last rows do not belong to the sequence",
    brief="{rows} at the end {are} special",
    sentence="{Rows} at the end {are} special: {norms} {sizes} times the median, {cosine} {similar} with row {before}; "
    "little trained, or tokens of their own.",
    reasoning="The last positions are rarely reached in training, and some models keep tokens of their own there "
    "(separators, masks, registers). One to four such rows are no change of training; a spectrum is better without "
    "them (rows=0:N takes the first N).",
    formula="one to four rows at the end that special-first-row or padding-offset would name were the table turned "
    "round; or that lie behind a step of 1.5 times the median of the 64 before and 7 robust deviations above, longer "
    "than all but two of them, which breaks off from the eight before it; found without columns that jump, too (see "
    "seam); not as before training (see untrained-tail), or longer than an outlier",
    references=("Devlin et al. 2019, arXiv:1810.04805 (few sequences of the full length)",),
)
OUTLIER_ROWS = RowKind(
    code="outlier-rows",
    levels=("warning",),
    phrase="rows with an outlying norm",
    brief="{rows} {have} an outlying norm",
    sentence="{Rows} {have} {factor} times the median norm.",
    reasoning="A row whose norm is far from all others may be damaged, trained on something else, or never used.",
    formula="ln(norm/median) above ln 1.8 or below -ln 2.5, and beyond 7 s, s = 1.4826 x median absolute deviation, "
    "below also beyond 2 s^2 ln(1000 rows); "
    "the norm changes by 1.5 from one row to the next where the run begins and ends, which is shorter than a "
    "quarter of the table; its first or last row does not lie on the straight line through its neighbours; short rows "
    "inside the table lie beside a step that is 1.5 times the median and 7 s longer, or are shorter than the median "
    "step by 2 s^2 ln(1000 rows) in logarithms, s of the steps; found without columns that jump, too (see seam)",
    references=("Rousseeuw & Croux 1993, J. Amer. Statist. Assoc. 88, 1273 (median absolute deviation)",),
)
ZERO_ROWS = RowKind(
    code="zero-rows",
    levels=("warning",),
    phrase="rows of zeros",
    brief="{rows} {are} zero",
    sentence="{Rows} {are} zero in every column.",
    reasoning="A position whose code is zero adds nothing to its token; it was probably masked out, or never trained.",
    formula="all entries are 0, and the row is not the start of a straight line",
    references=("Ott et al. 2019, arXiv:1904.01038 (the padding row is zeroed)",),
)
CONSTANT_ROWS = RowKind(
    code="constant-rows",
    levels=("note",),
    phrase="rows with one number in all columns",
    brief="{rows} {have} one number in every column",
    sentence="{Rows} {have} the same number in every column.",
    reasoning="A code with one number in all columns is the same for any permutation of the columns; layer "
    "normalisation removes it altogether.",
    formula="smallest entry = largest entry, not 0, in fewer than half of the rows",
    references=("Ba et al. 2016, arXiv:1607.06450 (the mean over columns is taken away)",),
)
ZERO_COLUMNS = RowKind(
    code="zero-columns",
    levels=("warning",),
    phrase="columns of zeros",
    brief="{columns} {are} zero",
    sentence="{Columns} {are} zero in every row.",
    reasoning="A column of zeros is width that is paid for and not used; an odd width padded with zeros, or a "
    "dead channel.",
    formula="all entries of the column are 0",
    references=("fairseq: fairseq/modules/sinusoidal_positional_embedding.py (odd width: a zero column)",),
)
CONSTANT_COLUMNS = RowKind(
    code="constant-columns",
    levels=("note",),
    phrase="columns with one number in all rows",
    brief="{columns} {are} constant",
    sentence="{Columns} {are} the same in every row: no position can be told by {them}.",
    reasoning="A column with one number in all rows tells no positions apart. The DFT encoding has one by "
    "design (frequency 0); in narrow types the slowest cosines of a ladder become constant.",
    formula="smallest entry = largest entry of the column, not 0",
    references=("arXiv:2405.09061 Eq. 17",),
)
DUPLICATE_ROWS = RowKind(
    code="duplicate-rows",
    levels=("warning",),
    phrase="equal rows",
    brief="{rows} {are} not unique",
    sentence="{what} in every column: these positions have one vector.",
    reasoning="The encoding cannot distinguish two positions with one vector (Definition 1 fails).",
    formula="e(s) = e(t) number by number (0 = -0); rows of zeros are reported as such",
    references=("arXiv:2405.09061 Definition 1",),
)
REPEATING_ROWS = RowKind(
    code="repeating-rows",
    levels=("warning",),
    phrase="the table repeats",
    brief="the table repeats",
    sentence="{count} rows are equal to the row {period} before them (first {first}): the table repeats.",
    reasoning="The whole table repeats after a period: the encoding is faithful only within one period, as the "
    "DFT encoding beyond d rows, or calendar fields beyond a week.",
    formula="every row from the second period on equals the one a period before it; the period is of two rows or "
    "more, and two rows or more come again",
    references=("arXiv:2405.09061 Definition 1 and Eq. 17",),
)
UNTRAINED_TAIL = RowKind(
    code="untrained-tail",
    levels=("warning",),
    phrase="rows at the end that were never trained",
    brief="{rows} {are} untrained",
    sentence="{Rows} ({count} of {size}) {are} as before training: {what}; consistent with training up to row {last}.",
    reasoning="Positions that training never reached keep their first random values. A model that is served "
    "at those positions reads noise.",
    formula=f"{_NOISE}; the start of the tail maximises the joint likelihood of N(m, v) before and N(0, 1/d) "
    "behind; the tail's mean is within 4 standard errors of 0, its scatter that of noise, m >= 0.15 and "
    "farther than 6 standard errors; of noise at least five rows: fewer may be tokens of their own",
    references=("Press et al. 2022, arXiv:2108.12409 (learned tables beyond the trained length)", _BERT),
)
SEAM = RowKind(
    code="seam",
    levels=("warning", "note"),
    phrase="the table changes between two rows",
    brief="a seam lies between {rows}",
    sentence="Seam between {rows}: {parts}{inference}.",
    reasoning="Training often begins with short sequences. Rows beyond the first length were trained less and "
    "otherwise, and it shows where the two parts meet. What the table shows is that they differ; why, it does not: a "
    "table that was put together of two, or extended, has such a place, too.",
    formula="a lasting change of the norm x, of the step x or of the cosine of successive steps: twice the gain in "
    "log-likelihood by a change of ln(1 + x/median), or of the cosine, beside white noise and a walk, a fading memory "
    "or a wandering slope (Whittle), summed over the three, exceeds the chi-squared quantile of 1 - 0.01/rows; lines "
    "through 8, 16 and 24 rows on either side, and their medians, show it, too; its standard errors are the root of "
    "that gain. Or a step, or the distance of the means of four rows, of 1.5 times the median around it and 7 robust "
    "deviations above; or a step of 1.2 times those around whose part that an autoregression (order 12) cannot "
    "interpolate from both sides is a quarter of it, 4.75 robust deviations long and leads all others by 1.3. It is "
    "found, too, without columns that jump, which have three steps or more of five times the three on either side; "
    "beside a jump the third differences of rows are half of it or more, as those of a steep curve are not. Or, where "
    "none of these is found in 384 rows or more: a change by 3 % of what rows share, their principal components above "
    "the spectrum of noise (Marchenko & Pastur), or of the length of what is left, where that is white and four times "
    "what storing rounds off. Its score (of amplitudes beside mean covariances of rows over 48 places on either side) "
    "beside a polynomial drift, stiff and pliant, exceeds what it does without a change at one of the rows in one "
    "table of 50 (Siegmund); its standard errors are the score over the root of its variance",
    references=(
        _BERT,
        "Tsay 1988, J. Forecasting 7, 1 (outliers and changes of level in time series)",
        "Fox 1972, J. R. Statist. Soc. B 34, 350 (outliers in autoregressions)",
    ),
)
STRAY_ROWS = RowKind(
    code="stray-rows",
    levels=("warning",),
    phrase="rows far from both neighbours",
    brief="{rows} {break} the sequence",
    sentence="{Rows} {are} far from both neighbours: the steps to and from there are far longer than those around.",
    reasoning="A single row far from both neighbours may be damaged, misplaced or trained apart.",
    formula="both its steps are jumps (see seam)",
)
REGULAR_JUMPS = RowKind(
    code="regular-jumps",
    levels=("note",),
    phrase="the table jumps at regular distances",
    brief="the table jumps every {spacing} rows",
    sentence="The table jumps every {spacing} rows ({count} times, first after row {first}): it may be a grid read "
    "line by line ({hint}) or a sum of cycles, not a line.",
    reasoning="A grid flattened line by line jumps where each line ends. Taken for a line it shows a false "
    "seam at every wrap and a false peak at 1/W: give grid=HxW. Sums of cycles (hour, weekday) jump too.",
    formula="at least three jumps (see seam), and 70 % of the places s, s + W, .. of the table",
    references=(_VIT,),
)
NO_STRUCTURE = RowKind(
    code="no-structure",
    levels=("warning",),
    phrase="nothing but noise",
    brief="nothing but noise was found",
    sentence="No structure: the {count} rows cannot be told from independent noise of standard deviation "
    "{deviation:.3g}{about}.",
    reasoning="A table before training is such noise, and so are many other tensors: the wrong one may have been read.",
    formula=f"{_NOISE}: the mean centred cosine of neighbours is -1/(S - 1) within 5 standard errors; the "
    "summed periodogram is flat; each column's periodogram scatters like an exponential distribution "
    "(mean square = 2 x squared mean), unlike one-hot (1) and DFT tables (many)",
    references=("Bartlett 1955, An Introduction to Stochastic Processes (periodogram of white noise)",),
)
INTERPOLATED = RowKind(
    code="interpolated",
    levels=("note",),
    phrase="a table that was resized, and little changed since",
    brief="the table was interpolated",
    sentence="Interpolated from {old} to {new}{along} ({ways}), {since}: all but {residual} of it comes from "
    "{old} rows{edges}.",
    reasoning="A table resized to a longer context or a larger image and hardly trained since has no more "
    "directions than before. How it was resized (cubic or linear, corners aligned or not) shifts every "
    "position by up to half a row, and must be repeated by whoever loads it.",
    formula="what least squares with the resize matrix leave, for each free direction, is less by a factor of e^0.2 "
    "and by six standard errors (16 groups of columns, or of rows; by 4.2 where the other axis of a grid was resized) "
    "than with the matrices of one row less and of one and two more, and than with the same matrix displaced by the "
    "rows that change its phase most, the fifth of the rows that speaks most for it left out; it is what storing "
    "rounds off (at most 5 times its root mean square: not trained since), or at most 3 % of a row's length",
    references=(
        _VIT,
        "torch.nn.functional.interpolate",
        "Keys 1981, IEEE Trans. ASSP 29, 1153",
        "Gallagher 2005, Proc. 2nd Canadian Conf. on Computer and Robot Vision, 65",
    ),
)
NO_SHARES = RowKind(
    code="no-shares",
    levels=("warning",),
    phrase="a spectrum that is not a distribution (negative weights)",
    brief="the spectrum is not a distribution",
    sentence="{signs}{where}.",
    reasoning="A sum of frequencies is most alike at lag 0. A bias that favours another lag, as heads that "
    "look at the previous token have it, is no such sum: its spectrum has large negative weights, and what is "
    "added up over negative weights (a share, a mean frequency, a number of bins) can be anything. Look "
    "at the kernel over the lag instead.",
    formula="negative weights sum to more than 0.05 of the sum of all, or the centroid is below 0, or "
    "the effective number of bins above that of all bins; k(tau) <= k(0) for every k(tau) = sum of cos(w tau)",
    references=("Bochner 1932, Vorlesungen ueber Fouriersche Integrale (which kernels have positive weights)",),
)
