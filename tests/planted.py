"""Makers of tables with planted truth: what training leaves in a table, where it is known to be.

Each maker takes the size and a seed and returns (S, d) float64. `SIZES` and `SEEDS` are what the
tests run over.
"""

import numpy as np

from pe_spectra.inspection.resize import resize_table

SIZES = ((197, 768), (512, 768), (1024, 768), (128, 64), (64, 32))
SEEDS = (0, 1, 2, 3, 4)
PERIODS = (500.0, 164.0, 54.6, 18.2, 6.1)
SHARES = (0.35, 0.25, 0.18, 0.12, 0.06)


def make_generator(seed):
    return np.random.Generator(np.random.PCG64(seed))


def make_noise(rows, width, seed=0, deviation=0.02):
    """Independent normal numbers: a table before training."""
    return deviation * make_generator(seed).standard_normal((rows, width))


def make_trained(rows, width, seed=0, noise=0.2, scale=0.05):
    """Smooth curves of many periods (the amplitude falls with the frequency), a mean row, and noise."""
    generator = make_generator(1000 + seed)
    times = np.arange(rows)[:, None]
    table = 0.3 * generator.standard_normal(width) * np.ones((rows, 1))
    for turns in (0.35, 0.8, 1.3, 2.1, 3.4, 5.5, 8.9):
        angle = 2 * np.pi * turns * (1 + 0.2 * generator.random(width)) * times / rows
        table += (
            np.sqrt(2 / (7 * (1 + turns)))
            * generator.standard_normal(width)
            * np.cos(angle + 2 * np.pi * generator.random(width))
        )
    return scale * (table + noise * generator.standard_normal((rows, width)))


def make_periodic(rows, width, seed=0, noise=0.04, periods=PERIODS, shares=SHARES, scale=0.05):
    """A sum of sinusoids, each with its share of the variance, and noise with the share `noise`."""
    generator = make_generator(2000 + seed)
    times = np.arange(rows)[:, None]
    table = np.zeros((rows, width))
    for period, share in zip(periods, shares, strict=True):
        amplitudes = generator.standard_normal((2, width))
        wave = np.cos(2 * np.pi * times / period) * amplitudes[0] + np.sin(2 * np.pi * times / period) * amplitudes[1]
        table += np.sqrt(share) * wave
    return scale * (table + np.sqrt(noise) * generator.standard_normal((rows, width)))


def add_drifting(table, first, last, share, seed=0, scale=0.05):
    """Add a line whose period goes from `first` to `last` along the rows; `share` as in `make_periodic`."""
    amplitudes = make_generator(9000 + seed).standard_normal((2, table.shape[1]))
    angles = 2 * np.pi * np.cumsum(1 / np.linspace(first, last, len(table)))[:, None]
    return table + scale * np.sqrt(share) * (np.cos(angles) * amplitudes[0] + np.sin(angles) * amplitudes[1])


def make_grid(height, width, channels, seed=0, noise=0.2, scale=0.05):
    """Smooth surfaces of low order along both axes, and noise: the patches of a vision model."""
    generator = make_generator(3000 + seed)
    y, x = (np.arange(height)[:, None, None] / height, np.arange(width)[None, :, None] / width)
    table = np.zeros((height, width, channels))
    for fy, fx in ((1, 0), (0, 1), (1, 1), (2, 1), (1, 2), (2, 2), (3, 1)):
        phases = 2 * np.pi * generator.random((2, channels))
        wave = np.cos(np.pi * fy * y + phases[0]) * np.cos(np.pi * fx * x + phases[1])
        table += generator.standard_normal(channels) * wave / np.hypot(fy, fx)
    table += noise * generator.standard_normal(table.shape)
    return scale * table.reshape(height * width, channels)


def plant_cls(table, factor=5.0, seed=0):
    """Replace row 0 by an unrelated row with `factor` times the usual norm."""
    row = make_generator(4000 + seed).standard_normal(table.shape[1])
    usual = np.median(np.linalg.norm(table, axis=1))
    return np.concatenate([(factor * usual / np.linalg.norm(row) * row)[None], table[1:]])


def plant_seam_jump(table, row=127, seed=0):
    """From row + 1 on, the rows of another training: other curves of the same kind."""
    return np.concatenate([table[: row + 1], make_trained(*table.shape, seed=seed + 500)[row + 1 :]])


def plant_seam_offset(table, row=127, seed=0, size=0.6):
    """From row + 1 on, one vector is added, `size` times the usual norm long."""
    vector = make_generator(5000 + seed).standard_normal(table.shape[1])
    usual = np.median(np.linalg.norm(table, axis=1))
    changed = table.copy()
    changed[row + 1 :] += size * usual / np.linalg.norm(vector) * vector
    return changed


def plant_seam_norm(table, row=127, seed=0, factor=0.6):
    """From row + 1 on, everything is smaller; the same for every seed."""
    changed = table.copy()
    changed[row + 1 :] *= factor
    return changed


def plant_seam_noise(table, row=127, seed=0, factor=0.5):
    """From row + 1 on, there is noise of `factor` times the table's deviation on top."""
    changed = table.copy()
    rest = changed[row + 1 :]
    rest += factor * table.std() * make_generator(6000 + seed).standard_normal(rest.shape)
    return changed


def plant_tail(table, start, seed=0, deviation=0.02):
    """From row `start` on, numbers as drawn before training."""
    return np.concatenate([table[:start], make_noise(len(table) - start, table.shape[1], 7000 + seed, deviation)])


def plant_copies(table, first=17, second=40):
    """Make row `second` a copy of row `first`."""
    changed = table.copy()
    changed[second] = changed[first]
    return changed


def plant_padding(table, kind="mixed", seed=0):
    """Replace two rows in front by padding: noise and zeros (RoBERTa), noise, zeros, or large rows."""
    noise = make_noise(2, table.shape[1], 8000 + seed)
    rows = {
        "mixed": np.stack([noise[0], np.zeros(table.shape[1])]),
        "noise": noise,
        "zero": np.zeros((2, table.shape[1])),
        "large": noise / np.linalg.norm(noise, axis=1, keepdims=True) * 6 * np.median(np.linalg.norm(table, axis=1)),
    }[kind]
    return np.concatenate([rows, table[2:]])


def make_interpolated(old, new, channels, seed=0, dtype="float32", method="bicubic", align_corners=False, noise=0.2):
    """A trained grid interpolated to another size and stored in `dtype`, back in float64."""
    grid = make_grid(*old, channels, seed, noise).astype(np.float32).astype(np.float64)
    resized = resize_table(grid, new, method=method, align_corners=align_corners, grid=old)
    return resized.astype(np.float32).astype(dtype).astype(np.float64)


def make_interpolated_line(old, new, width, seed=0, dtype="float32", method="bilinear", align_corners=False):
    """A trained table interpolated to another length and stored in `dtype`, back in float64."""
    table = make_trained(old, width, seed).astype(np.float32).astype(np.float64)
    resized = resize_table(table, new, method=method, align_corners=align_corners)
    return resized.astype(np.float32).astype(dtype).astype(np.float64)


def make_row_noise(table, seed):
    """Noise whose rows are, on average, as long as those of the table."""
    noise = make_generator(seed).standard_normal(table.shape) / np.sqrt(table.shape[1])
    return noise * np.linalg.norm(table, axis=1, keepdims=True)


def make_sinusoid(rows, width, rho=10000.0, step=1.0):
    """The sinusoidal encoding, written out."""
    angles = step * np.arange(rows)[:, None] * rho ** (-np.arange(0, width, 2) / width)
    table = np.empty((rows, width))
    table[:, 0::2], table[:, 1::2] = np.sin(angles), np.cos(angles[:, : width // 2])
    return table


def make_dft(rows, width):
    """The real DFT basis of `width` points (even), rows 0 .. rows-1, written out."""
    s, k = np.arange(rows)[:, None], np.arange(1, width // 2)
    angles = 2 * np.pi * (s * k % width) / width
    ends = np.sqrt(1 / width) * np.ones((rows, 1))
    inner = np.sqrt(2 / width)
    return np.concatenate([ends, inner * np.cos(angles), inner * np.sin(angles), ends * (-1.0) ** s], axis=1)


def make_ramp(rows, width):
    """s / (S - 1) in all columns."""
    return np.arange(rows)[:, None] / (rows - 1) * np.ones(width)


def make_sincos2d(height, width, channels):
    """The fixed grid of MAE: half of the columns for x, half for y."""
    y, x = np.divmod(np.arange(height * width), width)
    frequencies = 10000.0 ** (-np.arange(channels // 4) / (channels / 4))
    angles = [axis[:, None] * frequencies for axis in (x, y)]
    return np.concatenate([part for angle in angles for part in (np.sin(angle), np.cos(angle))], axis=1)


def make_lively(rows, width, seed=0, noise=0.2, scale=0.04):
    """24 sinusoids from a fraction of a turn to a period of 7 rows, and noise: steps change all the time."""
    generator = make_generator(9000 + seed)
    times = np.arange(rows)[:, None]
    table = np.zeros((rows, width))
    for index, frequency in enumerate(0.3 * np.pi * np.exp(-np.linspace(0, np.log(5000), 24))):
        phases = 2 * np.pi * generator.random(2)
        amplitudes = generator.standard_normal((2, width)) / (1 + index) ** 0.3
        table += np.sin(frequency * times + phases[0]) * amplitudes[0]
        table += np.cos(frequency * times + phases[1]) * amplitudes[1]
    return scale * (table / table.std() + noise * generator.standard_normal((rows, width)))


def make_walk(rows, width, seed=0, memory=1.0):
    """A random walk from zero, or an autoregressive process of this memory."""
    table = make_generator(10000 + seed).standard_normal((rows, width))
    for row in range(1, rows):
        table[row] += memory * table[row - 1]
    return table


def make_logarithm(rows, width, seed=0, noise=0.05):
    """ln(1 + s) in all columns, each with its own factor, and noise."""
    generator = make_generator(11000 + seed)
    curve = np.log1p(np.arange(rows))[:, None] * generator.standard_normal(width)
    return curve + noise * generator.standard_normal((rows, width))
