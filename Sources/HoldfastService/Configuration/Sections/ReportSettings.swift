/// `report:` — the line that says now and then how it goes.
package struct ReportSettings: Equatable, Sendable {
    /// `nil` for none.
    package var interval: Duration?

    package static let section = ConfigSection(
        name: "report", meaning: "the line that says now and then how it goes",
        keys: [
            ConfigKey(
                "interval", .duration(.zero...(.seconds(24 * 3600))), default: "5m",
                "from one line to the next; `0s` for none. It is said at `info`: see `log.level`")
        ])

    package init(_ values: ConfigValues) {
        let interval = values.duration("interval") ?? .seconds(300)
        self.interval = interval > .zero ? interval : nil
    }
}
