internal import Holdfast
internal import HoldfastOpenSSL
internal import HoldfastTransport

/// Who may submit at a listener: everybody on loopback; else whoever shows a client certificate that it knows, or a
/// provider token signed with the key of the route that serves the request's topic.
///
/// Made anew when a configuration is taken up, or a key's file has changed, so that what was found out about tokens goes with
/// the keys.
final class SubmitterAccess: Sendable {
    /// A key of a route, and what it is good for.
    private struct Key: Sendable {
        let settings: SubmitterKey
        let key: ES256PublicKey
        /// Tells the key from all others.
        let fingerprint: [UInt8]

        init(_ settings: SubmitterKey) throws(GatewayError) {
            let name = settings.source.named("signing key")
            do throws(TransportConfigurationError) {
                let pem = try settings.source.read(as: "signing key")
                do throws(OpenSSLError) {
                    key = try ES256PrivateKey(pem: pem).publicKey
                    fingerprint = try key.fingerprint()
                } catch {
                    throw TransportConfigurationError("the \(name) can't be used: \(error)")
                }
            } catch {
                throw GatewayError(.configuration, error.message)
            }
            self.settings = settings
        }

        /// Whether both verify the same tokens.
        func verifiesAs(_ other: Key) -> Bool {
            fingerprint == other.fingerprint && settings.keyID == other.settings.keyID
                && settings.teamID == other.settings.teamID
        }
    }

    /// What is known about a provider token whose signature is good.
    struct Verdict: Sendable {
        /// Good at any second of the range; too old after it, and not yet valid before it.
        let valid: ClosedRange<Int64>
        /// Which keys it is signed with: several routes may have one.
        let keys: [Int]
    }

    /// Whether everybody may who reaches it.
    let isOpen: Bool
    /// Of the keys' files that are looked at again, from before they were read.
    let stamps: [FileStamp]
    private let keys: [Key]
    private let producer: Producer
    private let verdicts = Monitor<[String: Verdict]>([:])

    /// How old a token may be, in seconds, as with Apple.
    private static let lifetime: Int64 = 3600
    /// How far ahead of ours a sender's clock may be, in seconds.
    private static let leeway: Int64 = 60
    /// Verdicts kept, of tokens whose signature is good alone: whoever has no key can fill no memory.
    private static let capacity = 1024

    /// - Throws: ``GatewayError`` where nobody could submit, or everybody who is out there.
    init(
        _ configuration: HTTP2IngressConfiguration, _ submitters: [SubmitterKey], _ producer: Producer
    ) throws(GatewayError) {
        isOpen = !configuration.asksForCredentials
        self.producer = producer
        stamps = Self.stamps(submitters)
        var keys: [Key] = []
        for settings in submitters { keys.append(try Key(settings)) }
        self.keys = keys
        guard !isOpen else { return }
        guard configuration.listen.isLoopback || configuration.tls != nil else {
            throw GatewayError(
                .configuration,
                "\(configuration.listen) is reached from elsewhere: it needs a certificate and a key, since without TLS a "
                    + "gateway listens on loopback only")
        }
        guard configuration.tls?.clientAuthorities != nil || !keys.isEmpty else {
            throw GatewayError(
                .configuration,
                "\(configuration.listen) asks for credentials: it needs the authorities of its clients' certificates, "
                    + "or a route with a signing key, or nobody could submit")
        }
    }

    /// With the keys that their files hold now.
    private init(rereading old: SubmitterAccess) throws(GatewayError) {
        (isOpen, producer) = (old.isOpen, old.producer)
        stamps = old.currentStamps
        var keys: [Key] = []
        for key in old.keys { keys.append(key.settings.isWatched ? try Key(key.settings) : key) }
        self.keys = keys
    }

    /// Reads the keys' files anew.
    ///
    /// - Throws: ``GatewayError`` that names the file that is wrong.
    func reread() throws(GatewayError) -> SubmitterAccess { try SubmitterAccess(rereading: self) }

    /// Of the keys' files that are looked at again, as they are now.
    var currentStamps: [FileStamp] { Self.stamps(keys.map(\.settings)) }

    private static func stamps(_ submitters: [SubmitterKey]) -> [FileStamp] {
        submitters.compactMap { key in
            if key.isWatched, case .file(let path) = key.source { FileStamp(path) } else { nil }
        }
    }

    /// How often the keys' files are looked at.
    var interval: Duration { keys.compactMap(\.settings.reloadEvery).min() ?? Self.slowLook }

    /// Where there is nothing to look at yet.
    private static let slowLook = Duration.seconds(10)

    /// Whether both have the same keys.
    func hasKeys(of other: SubmitterAccess) -> Bool {
        keys.count == other.keys.count && zip(keys, other.keys).allSatisfy { $0.verifiesAs($1) }
    }

    /// What is known about a provider token without looking at its signature; nil when nothing is.
    func known(_ text: String) -> Verdict? { verdicts.withLock { $0[text] } }

    /// Looks at the signature: some 100 µs.
    ///
    /// - Returns: nil for a token that none of the keys has signed.
    func verify(_ text: String) -> Verdict? {
        guard let token = ProviderTokenText(Array(text.utf8)) else { return nil }
        let signers = keys.indices.filter { index in
            keys[index].settings.keyID == token.keyID && keys[index].settings.teamID == token.teamID
                && token.isSigned(by: keys[index].key)
        }
        guard !signers.isEmpty, let valid = Self.valid(token) else { return nil }
        let verdict = Verdict(valid: valid, keys: signers)
        verdicts.withLock { verdicts in
            if verdicts.count >= Self.capacity { verdicts.removeAll() }
            verdicts[text] = verdict
        }
        return verdict
    }

    /// - Returns: nil for a token that is good at no time.
    private static func valid(_ token: ProviderTokenText) -> ClosedRange<Int64>? {
        let (issued, isBeforeTime) = token.issuedAt.subtractingReportingOverflow(leeway)
        let (oldest, isAfterTime) = token.issuedAt.addingReportingOverflow(lifetime)
        let (last, isNever) = (token.expiresAt ?? .max).subtractingReportingOverflow(1)
        let first = max(issued, token.notBefore ?? issued)
        guard !isBeforeTime, !isAfterTime, !isNever, first <= min(oldest, last) else { return nil }
        return first...min(oldest, last)
    }

    /// Where keys of another access are here.
    ///
    /// - Parameter keys: the other's places.
    /// - Returns: none for those that are not here.
    func places(of keys: [Int], in other: SubmitterAccess) -> [Int] {
        let sought = keys.map { other.keys[$0] }
        return self.keys.indices.filter { index in sought.contains { $0.verifiesAs(self.keys[index]) } }
    }

    /// Whether one of the keys is that of the route which serves the topic.
    func serves(_ keys: [Int], topic: String) -> Bool {
        keys.contains { index in
            if let topics = self.keys[index].settings.topics {
                topics.contains(topic)
            } else {
                !producer.isNamed(topic: topic)
            }
        }
    }
}

extension SubmitterKey {
    /// Whether its file is looked at again.
    fileprivate var isWatched: Bool { reloadEvery != nil }
}
