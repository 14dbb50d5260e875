internal import Holdfast
package import HoldfastGateway

/// `clients:` — who of those with a client certificate may submit, and what.
package enum ClientSettings {
    package static let section = ConfigSection(
        name: "clients", isList: true,
        meaning:
            "which senders may use the gateway's listeners by their certificates, and for what. Without any, all whose "
            + "certificate is signed by a listener's `clients`, for every topic",
        keys: [
            ConfigKey(
                "name", .text("a name", 1...255), need: .always,
                "whose certificate: with `=` the whole subject (`CN=orders,O=Example`), else the common name of its "
                    + "subject or one of its host names"),
            ConfigKey(
                "kind", .choice(ClientSubject.Kind.allCases.map(\.rawValue)), default: "any",
                "where the certificate must have the name: `common-name`, `host-name` or `subject`, so that the same name "
                    + "in another place does not count"),
            ConfigKey(
                "topics", .topics(most: 1000), "what it may submit for; without it, for every topic"),
            ConfigKey(
                "rate.per-second", .share(0.001...10_000_000), need: .withGroup,
                "notifications a second over all its connections to a listener; beyond it HTTP/2 answers 429, and of the "
                    + "binary protocol nothing is read for a while"),
            ConfigKey(
                "rate.burst", .count(1...10_000_000),
                "how many may come at once after a pause; without it, those of a second"),
        ], whenEmpty: "has no item, so that nobody could use a certificate: give one, or take the section away",
        check: check)

    private static let check: @Sendable ([ConfigValues], inout [ConfigProblem]) -> Void = { items, problems in
        for (index, values) in items.enumerated() {
            for other in items[..<index] {
                guard let name = values.text("name"), name == other.text("name"),
                    values.text("kind") == other.text("kind")
                else { continue }
                problems.append(
                    values.problem(
                        "name", "\(name.debugDescription) is also the name of \(other.path): one item says it"))
            }
        }
    }

    /// - Precondition: the values are without a mistake.
    /// - Returns: nil where there are none, which serves everybody with a certificate that is good.
    package static func subjects(_ items: [ConfigValues]) -> [ClientSubject]? {
        guard !items.isEmpty else { return nil }
        return items.map { values in
            ClientSubject(
                values.text("name") ?? "", kind: values.text("kind").flatMap { .init(rawValue: $0) } ?? .any,
                topics: values.texts("topics").map(Set.init),
                rate: values.share("rate.per-second").map {
                    RateLimit(perSecond: $0, burst: values.count("rate.burst"))
                })
        }
    }
}
