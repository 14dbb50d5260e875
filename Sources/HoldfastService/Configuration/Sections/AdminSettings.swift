package import HoldfastGateway

/// `admin:` — where operators and their machines look.
package struct AdminSettings: Equatable, Sendable {
    /// `nil` for nowhere.
    package var listen: ListenAddress?
    /// Whether it may be reached from elsewhere.
    package var everybody: Bool
    package var connections: Int
    /// The file with the operators' token; nil where nobody may ask for outcomes.
    package var tokenFile: String?
    /// The clients of `/outcomes/stream` and of the page's live view at a time.
    package var streams: Int
    /// Whether the operators' page is there.
    package var page: Bool

    package static let section = ConfigSection(
        name: "admin",
        meaning:
            "where `serve` tells of its health, its metrics and of what became of notifications, and has a page for operators, over HTTP; "
            + "without `listen`, nowhere",
        keys: [
            ConfigKey(
                "listen", .listen,
                "`/health/live`, `/health/ready` and `/metrics` are there; of this machine alone, or with `everybody`"),
            ConfigKey(
                "everybody", .flag, default: "false",
                "whether `listen` may be reached from elsewhere, in the clear and without a password: for a network that "
                    + "is yours"),
            ConfigKey(
                "connections", .count(1...10_000), default: "32",
                "connections at a time at most; for one more, the one that has been idle for longest is closed"),
            ConfigKey(
                "token-file", .file,
                "a file, closed to others, with the token that `/outcomes` is served for, and with which operators sign in to their page: "
                    + "16 to 512 letters and digits, presented as `Authorization: Bearer TOKEN`. Without it, `/outcomes` is not there, and the "
                    + "page changes nothing"),
            ConfigKey(
                "streams", .count(0...1000), default: "8",
                "clients of `/outcomes/stream` and pages of operators that are live at a time; less than `connections`, so that probes "
                    + "are answered; `0` for none"
            ),
            ConfigKey(
                "page", .flag, default: "true",
                "whether operators have their page at `/`, with the JSON under `/api`; reached from elsewhere, it takes "
                    + "`token-file`"),
        ],
        check: { items, problems in
            for values in items where values.isGiven("token-file") && !values.isGiven("listen") {
                problems.append(values.problem("token-file", "is for `listen`; add that, or leave this out"))
            }
            // The default gives way: few connections were never a mistake.
            for values in items where values.isGiven("streams") {
                guard let streams = values.count("streams"), let connections = values.count("connections"),
                    streams >= connections
                else { continue }
                problems.append(
                    values.problem(
                        "streams",
                        "contradicts: streams is \(streams), and must be less than connections, \(connections)"))
            }
            for values in items {
                guard let text = values.text("listen"), let address = GatewaySettings.address(text) else { continue }
                guard !address.isLoopback, values.flag("everybody") != true else { continue }
                problems.append(
                    values.problem(
                        "listen",
                        "is reached from elsewhere: say `everybody: true` if that is meant, or listen on 127.0.0.1"))
            }
        })

    /// - Precondition: the values are without a mistake.
    package init(_ values: ConfigValues) {
        listen = values.text("listen").flatMap { GatewaySettings.address($0) }
        everybody = values.flag("everybody") ?? false
        connections = values.count("connections") ?? 32
        tokenFile = values.text("token-file")
        streams = values.count("streams") ?? 8
        page = values.flag("page") ?? true
    }
}
