/// When the engine reports on itself, and what: see ``PeriodReport``.
///
/// Of an engine at rest it reports once, and then no more until something happens.
///
/// A pure machine.
struct ReportInterval: Sendable {
    /// Nil where nothing is reported.
    private var interval: Duration?
    private var last = PeriodFigures()
    private var lastAt: Duration?
    private var hasToldOfRest = false

    /// - Parameter isInCharge: one Consumer of an engine does it for all.
    init(_ interval: Duration?, isInCharge: Bool) {
        self.interval = isInCharge ? interval.map { max($0, .seconds(1)) } : nil
    }

    /// Another interval, or other hands.
    mutating func change(to interval: Duration?, isInCharge: Bool) {
        self.interval = ReportInterval(interval, isInCharge: isInCharge).interval
    }

    /// When it is time again; nil when that is not known yet, or never.
    var next: Duration? {
        guard let interval, let lastAt else { return nil }
        return lastAt + interval
    }

    /// Whether a report is due. The first interval begins with the first call.
    mutating func isDue(now: Duration) -> Bool {
        guard interval != nil else { return false }
        guard let next else {
            lastAt = now
            return false
        }
        return now >= next
    }

    /// It is time.
    ///
    /// - Parameter figures: as of now, counted since the engine was made.
    /// - Returns: nil where there is nothing new to say.
    mutating func report(_ figures: PeriodFigures, now: Duration) -> PeriodReport? {
        let report = PeriodReport(period: now - (lastAt ?? now), figures: figures.since(last))
        (last, lastAt) = (figures, now)
        defer { hasToldOfRest = report.figures.isIdle }
        return report.figures.isIdle && hasToldOfRest ? nil : report
    }
}
