package import Holdfast
internal import HoldfastControl
internal import HoldfastRequests
internal import HoldfastTransport
internal import HoldfastWebhooks

/// `webhooks:` — who is told how notifications ended.
package struct WebhookSettings: Equatable, Sendable {
    package var name: String
    package var url: String
    package var secretFile: String?
    /// The secret itself, in place of a file.
    package var secret: String?
    package var producers: [String]?
    package var endings: [String]?
    package var batch: Int
    package var timeout: Duration
    package var retry: RetrySchedule
    package var trust: String?
    package var proxy: ProxyServer?

    /// The Producers that a service has by itself.
    private static let ownProducers = ["gateway-http2", "gateway-binary", "default"]
    /// The most webhooks: each is a reader of the journal, which has room for others as well.
    private static let greatestCount = 50

    package static let section = ConfigSection(
        name: "webhooks", isList: true,
        meaning:
            "who is told how notifications ended, by signed requests: see [Outcomes.md](Outcomes.md#webhooks). Without any, "
            + "nobody",
        keys: [
            ConfigKey(
                "name", .text("a name", 1...48), need: .always,
                "letters, digits, `-` and `_`; the journal remembers under it what was told: another name begins anew"),
            ConfigKey("url", .webhookURL, need: .always, "where outcomes are posted to"),
            ConfigKey(
                "secret-file", .file,
                "the file, closed to others, with the secret that requests are signed with: `whsec_` and Base64, one a line; "
                    + "this or `secret`"
            ),
            ConfigKey(
                "secret", .secret("a secret", 1...256),
                "the secret itself, in place of a file: for a variable that holds it"
            ),
            ConfigKey(
                "producers", .texts("names of producers", 1...64, most: 1000),
                "whose outcomes are told: `gateway-http2`, `gateway-binary`, or another name that notifications are submitted "
                    + "under; without it, everybody's"),
            ConfigKey("endings", .choices(OutcomeArgument.endings), "which outcomes are told; without it, all"),
            ConfigKey(
                "batch", .count(1...WebhookConfiguration.greatestBatch), default: "500",
                "outcomes of a request at most; fewer where they have more than 1 MiB, or the receiver answers 413"),
            ConfigKey(
                "timeout", .duration(.milliseconds(100)...(.seconds(600))), default: "30s",
                "how long the answer to a request is waited for; then it is repeated"),
            ConfigKey(
                "retry.minimum", .duration(.milliseconds(10)...(.seconds(3600))), default: "1s",
                "upper bound of the first wait before a request that failed is repeated; doubled with each failure"),
            ConfigKey(
                "retry.maximum", .duration(.milliseconds(10)...(.seconds(24 * 3600))), default: "5m",
                "upper bound of every such wait; a Retry-After is honoured for so long at most"),
            ConfigKey("trust", .file, "PEM file with the certificates to trust, instead of the system's"),
            ConfigKey(
                "proxy", .proxy,
                "what connections go through; port 3128, or 1080 for SOCKS, where none is named"),
        ], check: check)

    private static let check: @Sendable ([ConfigValues], inout [ConfigProblem]) -> Void = { items, problems in
        for (index, values) in items.enumerated() {
            if index == greatestCount {
                problems.append(values.problem("name", "is one webhook too many: \(greatestCount) at most"))
            }
            checkName(values, items[..<index], &problems)
            if let producers = values.texts("producers") {
                for name in producers where !ownProducers.contains(name) {
                    guard let nearest = NearestName.of(name, in: ownProducers) else { continue }
                    problems.append(
                        values.problem("producers", "\(name.debugDescription) is no producer; did you mean \(nearest)?")
                    )
                }
            }
            switch (values.isGiven("secret-file"), values.isGiven("secret")) {
            case (true, true):
                problems.append(values.problem("secret", "contradicts secret-file: the one or the other"))
            case (false, false):
                guard !values.isUnknown("secret"), !values.isUnknown("secret-file") else { continue }
                problems.append(
                    values.problem("secret-file", "is missing: requests are signed with it; or give secret"))
            default: break
            }
            guard let least = values.duration("retry.minimum"), let greatest = values.duration("retry.maximum"),
                least > greatest
            else { continue }
            problems.append(
                values.problem(
                    values.isGiven("retry.minimum") ? "retry.minimum" : "retry.maximum",
                    "contradicts: retry.minimum is \(DurationText.text(least)), more than retry.maximum, "
                        + DurationText.text(greatest)))
        }
    }

    private static func checkName(
        _ values: ConfigValues, _ others: ArraySlice<ConfigValues>, _ problems: inout [ConfigProblem]
    ) {
        guard let name = values.text("name") else { return }
        if !name.utf8.allSatisfy(isNameByte) {
            problems.append(
                values.problem("name", "\(name.debugDescription) has other characters than letters, digits, - and _"))
        }
        if let other = others.first(where: { $0.text("name") == name }) {
            problems.append(
                values.problem(
                    "name",
                    "\(name.debugDescription) is also the name of \(other.path): each webhook has one of its own"))
        }
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"): true
        default: false
        }
    }

    /// - Precondition: the values are without a mistake.
    package init(_ values: ConfigValues) {
        name = values.text("name") ?? ""
        url = values.text("url") ?? ""
        (secretFile, secret) = (values.text("secret-file"), values.text("secret"))
        (producers, endings) = (values.texts("producers"), values.texts("endings"))
        batch = values.count("batch") ?? 500
        timeout = values.duration("timeout") ?? .seconds(30)
        retry = RetrySchedule(
            minimum: values.duration("retry.minimum") ?? .seconds(1),
            maximum: values.duration("retry.maximum") ?? .seconds(300), greatestDoublings: 30)
        trust = values.text("trust")
        proxy = values.proxy
    }
}

extension ConfigType {
    /// The URL of a webhook. Its path and query may hold a secret, and are never shown.
    package static let webhookURL = ConfigType(
        allowed: "`https://HOST[:PORT][/PATH][?QUERY]`, or `http://` with a loopback address", isSecret: true
    ) { text, _ throws(Fault) in
        do throws(TransportConfigurationError) { _ = try PostAddress(webhook: text) } catch {
            throw Fault(message: "\(error.message); takes https://HOST[:PORT][/PATH][?QUERY]")
        }
        return .text(text)
    } write: { value in
        guard case .text(let text) = value else { return "(secret)" }
        do throws(TransportConfigurationError) { return try PostAddress(webhook: text).server + "/…" } catch {
            return "(secret)"
        }
    }
}
