"""Fits the polynomial coefficients of vector_math.h; needs mpmath, is no part of the build.

Method: the Remez exchange algorithm (E. Ya. Remez, 1934; see J.-M. Muller, "Elementary Functions",
3rd ed., section 3.3) for the weighted minimax error on an interval, at 50 decimal digits. The
lowest coefficient is rounded and the others fitted again; then all are rounded. Prints C++ arrays and the error in bits.
"""
import sys
from mpmath import mp, mpf, matrix, lu_solve, exp, log, sin, cos, asin, atan, erf, erfc, sqrt, pi, ln

mp.dps = 50


def to_type(value, bits):
    """`value` rounded to `bits` bits of mantissa."""
    with mp.workprec(bits):
        return +value


def extrema(error, grid):
    """The points of alternating local extrema of `error` over the grid, signs alternating."""
    values = [error(x) for x in grid]
    runs = []
    for x, v in zip(grid, values):
        if runs and (runs[-1][1] > 0) == (v > 0):
            if abs(v) > abs(runs[-1][1]):
                runs[-1] = (x, v)
        else:
            runs.append((x, v))
    return runs


def remez(g, weight, powers, low, high):
    """Coefficients c of sum c[k] x^powers[k] minimising max |weight(x) (g(x) - sum)|."""
    n = len(powers)
    if n == 0:
        return []
    mid, half = (low + high) / 2, (high - low) / 2
    points = [mid - half * cos(pi * (2 * i + 1) / (2 * (n + 1))) for i in range(n + 1)]
    grid = [mid - half * cos(pi * i / (24 * n + 24)) for i in range(24 * n + 25)]
    cache = {x: (g(x), weight(x)) for x in grid}
    c = None
    for _ in range(30):
        a, b = matrix(n + 1, n + 1), matrix(n + 1, 1)
        for i, x in enumerate(points):
            gx, wx = cache[x] if x in cache else (g(x), weight(x))
            for k, p in enumerate(powers):
                a[i, k] = wx * x ** p
            a[i, n] = (-1) ** i
            b[i] = wx * gx
        solution = lu_solve(a, b)
        c = [solution[k] for k in range(n)]
        level = abs(solution[n])

        def error(x):
            gx, wx = cache[x]
            return wx * (gx - sum(ck * x ** p for ck, p in zip(c, powers)))

        runs = extrema(error, grid)
        while len(runs) > n + 1:
            runs.pop(0 if abs(runs[0][1]) < abs(runs[-1][1]) else -1)
        if len(runs) < n + 1:
            break
        worst = max(abs(v) for _, v in runs)
        points = [x for x, _ in runs]
        if worst < level * mpf("1.001"):
            break
    return c


def fit(name, g, weight, degree, low, high, bits, kind):
    if len(sys.argv) > 2 and name not in sys.argv[2:]:
        return
    low, high = mpf(low), mpf(high)
    ideal = remez(g, weight, list(range(degree + 1)), low, high)
    first = to_type(ideal[0], bits)
    others = remez(lambda x: g(x) - first, weight, list(range(1, degree + 1)), low, high)
    choices = [[to_type(ck, bits) for ck in ideal], [first] + [to_type(ck, bits) for ck in others]]
    grid = [low + (high - low) * i / 600 for i in range(601)]

    def worst(cs):
        return max(abs(weight(x) * (g(x) - sum(ck * x ** i for i, ck in enumerate(cs)))) for x in grid)
    fixed = min(choices, key=worst)
    print("  // %s: error 2^%.1f (2^%.1f before rounding)" %
          (name, float(log(worst(fixed), 2)), float(log(worst(ideal), 2))))
    suffix = "f" if kind == "float" else ""
    digits = 9 if kind == "float" else 17
    print("  static constexpr %s k%s[%d] = {" % (kind, name, degree + 1))
    for ck in fixed:
        text = ("%%.%dg" % digits) % float(ck)
        if "." not in text and "e" not in text:
            text += ".0"
        print("      %s%s," % (text, suffix))
    print("  };")
    sys.stdout.flush()


def series(x, start, step_sign):
    """sum over k >= 0 of step_sign^k x^k / (2k + start)."""
    total, term, k = mpf(0), mpf(1), 0
    while abs(term) > mpf(10) ** -55:
        total += term / (2 * k + start)
        term *= x * step_sign
        k += 1
        if x == 0:
            break
    return total


def expq(r):  # (e^r - 1 - r) / r^2
    total, term, k = mpf(0), mpf(1) / 2, 2
    while abs(term) > mpf(10) ** -60:
        total += term
        k += 1
        term *= r / k
        if r == 0:
            break
    return total


def exp2q(r):  # (2^r - 1) / r
    t = r * ln(2)
    return ln(2) * (1 + t * expq(t))


def taylor(z, first, numerators):
    total, term, k = mpf(0), first, 0
    while abs(term) > mpf(10) ** -60:
        total += term
        term *= numerators(k) * z
        k += 1
        if z == 0:
            break
    return total


def sinq(z):  # (sin(sqrt z) / sqrt z - 1) / z
    return taylor(z, mpf(-1) / 6, lambda k: mpf(-1) / ((2 * k + 4) * (2 * k + 5)))


def cosq(z):  # (cos(sqrt z) - 1 + z/2) / z^2
    return taylor(z, mpf(1) / 24, lambda k: mpf(-1) / ((2 * k + 5) * (2 * k + 6)))


def asinq(z):  # (asin(sqrt z) / sqrt z - 1) / z
    if z < mpf(10) ** -20:
        return mpf(1) / 6 + z * 3 / 40
    s = sqrt(z)
    return (asin(s) / s - 1) / z


def erfq(z):  # erf(sqrt z) / sqrt z - 1
    if z == 0:
        return 2 / sqrt(pi) - 1
    s = sqrt(z)
    return erf(s) / s - 1


def erfcxq(center):
    def g(t):  # (1 + 2a) exp(a^2) erfc(a), t = (a - center) / (a + center)
        if t == 1:
            return 2 / sqrt(pi)
        a = center * (1 + t) / (1 - t)
        if a > 1000:
            return (1 + 2 * a) / (a * sqrt(pi)) * (1 - 1 / (2 * a * a) + 3 / (4 * a ** 4) - 15 / (8 * a ** 6))
        with mp.workdps(60):
            return (1 + 2 * a) * exp(a * a) * erfc(a)
    return g


def table(kind, bits, d):
    h = mpf("0.3470")
    fit("Exp", expq, lambda r: r * r + mpf(10) ** -6, d["Exp"], -h, h, bits, kind)
    fit("Exp2", exp2q, lambda r: abs(r) + mpf(10) ** -6, d["Exp2"], mpf("-0.501"), mpf("0.501"), bits, kind)
    zlog = mpf("0.02945")
    fit("Log", lambda z: 2 * series(z, 3, 1), lambda z: z / 2 + mpf(10) ** -9, d["Log"], 0, zlog, bits, kind)
    fit("LogTail", lambda z: 2 * series(z, 5, 1), lambda z: z * z / 2 + mpf(10) ** -9, d["LogTail"], 0, zlog, bits, kind)
    zpi = mpf("0.63")
    fit("Sin", sinq, lambda z: z + mpf(10) ** -9, d["Sin"], 0, zpi, bits, kind)
    fit("Cos", cosq, lambda z: z * z + mpf(10) ** -9, d["Cos"], 0, zpi, bits, kind)
    fit("Asin", asinq, lambda z: z + mpf(10) ** -9, d["Asin"], 0, mpf("0.2501"), bits, kind)
    fit("Atan", lambda z: -series(z, 3, -1), lambda z: z + mpf(10) ** -9, d["Atan"], 0, mpf("0.1716"), bits, kind)
    fit("Erf", erfq, lambda z: mpf(1), d["Erf"], 0, mpf("1.0"), bits, kind)
    fit("Erfc", erfcxq(mpf(d["center"])), lambda t: mpf(1), d["Erfc"], mpf(d["low"]), mpf(d["high"]), bits, kind)


degrees = {
    "float": dict(Exp=4, Exp2=6, Log=3, LogTail=3, Sin=2, Cos=2, Asin=4, Atan=4, Erf=6, Erfc=11, center=2,
                  low="-1", high=".75"),
    "double": dict(Exp=10, Exp2=12, Log=6, LogTail=7, Sin=6, Cos=6, Asin=11, Atan=11, Erf=11, Erfc=21, center=4,
                   low="-1", high=".78"),
}
for kind, bits in (("float", 24), ("double", 53)):
    if len(sys.argv) < 2 or kind == sys.argv[1]:
        table(kind, bits, degrees[kind])
