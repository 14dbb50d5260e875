internal import Holdfast
internal import HoldfastOpenSSL
internal import HoldfastService
internal import HoldfastTransport

/// The certificates that a server shows, as far as they matter to a sender.
struct ChainFacts: Hashable, Sendable {
    var subject: String
    var issuer: String
    /// Unix seconds: the last good second of the server's own.
    var notAfter: Int64
    /// Of those above it, the one that ends first.
    var authority: String?
    var authorityEnd: Int64?
    var count: Int

    /// `nil` without any, or where a date can't be read.
    init?(_ chain: [Certificate]) {
        guard let first = chain.first, let own = try? first.facts() else { return nil }
        (subject, issuer, notAfter, count) = (first.subject, first.issuer, own.notAfter, chain.count)
        let above = chain.dropFirst().compactMap { certificate in
            (try? certificate.facts()).map { (certificate.subject, $0.notAfter) }
        }
        if let earliest = above.min(by: { $0.1 < $1.1 }) { (authority, authorityEnd) = (earliest.0, earliest.1) }
    }

    static func date(_ seconds: Int64) -> String { ClientCertificate.text(seconds) }

    /// Who it is, who signed it, and until when, for people.
    var words: String {
        "\(subject.printable(maximumLength: 200)), signed by \(issuer.printable(maximumLength: 200)), good until "
            + ClientCertificate.text(notAfter)
    }
}

/// How near a certificate's end is.
enum ExpiryJudge {
    private static let day: Int64 = 86_400

    /// `nil` for one that is good for longer than that.
    ///
    /// - Parameter days: from how many on somebody should act.
    /// - Returns: also whether less than a day is left, or none: a fault.
    static func words(_ notAfter: Int64, now: WallTime, days: Int64) -> (text: String, isNear: Bool)? {
        let left = notAfter - now.seconds
        let date = ClientCertificate.text(notAfter)
        if left < 0 { return ("it has expired (\(date))", true) }
        guard left <= days * day else { return nil }
        let span = left < 2 * day ? "\(left / 3600) hours" : "\(left / day) days"
        return ("it expires in \(span) (\(date))", left <= day)
    }
}
