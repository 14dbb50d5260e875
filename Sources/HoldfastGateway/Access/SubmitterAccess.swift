internal import Holdfast
internal import HoldfastOpenSSL
internal import HoldfastTransport

/// Decides who may submit at a listener: everybody on loopback; elsewhere a client with a known certificate, or with a
/// provider token signed with the key of the route that serves the request's topic.
///
/// Made anew when a configuration is taken up, or a key's file has changed, so that verdicts about tokens are dropped
/// together with the keys.
final class SubmitterAccess: Sendable {
    /// A key of a route.
    private struct Key: Sendable {
        let settings: SubmitterKey
        let key: ES256PublicKey
        /// Identifies the key.
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

    /// The verdict about a provider token with a valid signature.
    struct Verdict: Sendable {
        /// Valid at any second of the range; expired after it, and not yet valid before it.
        let valid: ClosedRange<Int64>
        /// The keys that it is signed with: several routes may have one.
        let keys: [Int]
    }

    /// Whether everybody who reaches the listener may submit.
    let isOpen: Bool
    /// Stamps of the watched key files, from before they were read.
    let stamps: [FileStamp]
    private let keys: [Key]
    /// The service accounts that may send Google's messages; nil where none may.
    let accounts: SenderAccounts?
    private let accountsSource: CredentialSource?
    /// Whether routes of both environments have keys.
    private var sharesTopics: Bool { Set(keys.compactMap(\.settings.environment)).count > 1 }
    private let producer: Producer
    private let verdicts = Monitor<[String: Verdict]>([:])

    /// The greatest age of a token, in seconds: Apple's.
    private static let lifetime: Int64 = 3600
    /// The most seconds that a sender's clock may be ahead of ours.
    private static let leeway: Int64 = 60
    /// The most verdicts kept. Only tokens with a valid signature have one: a client without a key can fill no memory.
    private static let capacity = 1024

    /// - Throws: ``GatewayError`` where nobody could submit, or everybody from other machines could.
    init(
        _ configuration: HTTP2IngressConfiguration, _ submitters: [SubmitterKey], _ producer: Producer
    ) throws(GatewayError) {
        isOpen = !configuration.asksForCredentials
        self.producer = producer
        accountsSource = configuration.serviceAccounts
        stamps = Self.stamps(submitters, accountsSource)
        accounts = try accountsSource.map { source throws(GatewayError) in try SenderAccounts(source) }
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
        guard configuration.tls?.clientAuthorities != nil || !keys.isEmpty || accounts != nil else {
            throw GatewayError(
                .configuration,
                "\(configuration.listen) asks for credentials: it needs the authorities of its clients' certificates, "
                    + "a route with a signing key, or a register of service accounts, or nobody could submit")
        }
    }

    /// Reads the keys' files again.
    private init(rereading old: SubmitterAccess) throws(GatewayError) {
        (isOpen, producer, accountsSource) = (old.isOpen, old.producer, old.accountsSource)
        stamps = old.currentStamps
        accounts = try accountsSource.map { source throws(GatewayError) in try SenderAccounts(source) }
        var keys: [Key] = []
        for key in old.keys { keys.append(key.settings.isWatched ? try Key(key.settings) : key) }
        self.keys = keys
    }

    /// Reads the keys' files again.
    ///
    /// - Throws: ``GatewayError`` that names the faulty file.
    func reread() throws(GatewayError) -> SubmitterAccess { try SubmitterAccess(rereading: self) }

    /// Stamps of the watched key files now.
    var currentStamps: [FileStamp] { Self.stamps(keys.map(\.settings), accountsSource) }

    private static func stamps(_ submitters: [SubmitterKey], _ accounts: CredentialSource?) -> [FileStamp] {
        (submitters.filter(\.isWatched).map(\.source) + [accounts].compactMap(\.self)).compactMap { source in
            if case .file(let path) = source { FileStamp(path) } else { nil }
        }
    }

    /// The interval at which the keys' files are checked.
    var interval: Duration {
        (keys.compactMap(\.settings.reloadEvery) + (accounts == nil ? [] : [Self.slowLook])).min() ?? Self.slowLook
    }

    /// The interval where no file is watched yet.
    private static let slowLook = Duration.seconds(10)

    /// Whether both have the same keys and service accounts.
    func hasKeys(of other: SubmitterAccess) -> Bool {
        keys.count == other.keys.count && zip(keys, other.keys).allSatisfy { $0.verifiesAs($1) }
            && hasAccounts(of: other)
    }

    private func hasAccounts(of other: SubmitterAccess) -> Bool {
        guard let accounts, let others = other.accounts else { return accounts == nil && other.accounts == nil }
        return accounts.isSame(as: others)
    }

    /// The verdict about a provider token that was verified before; nil without one.
    func known(_ text: String) -> Verdict? { verdicts.withLock { $0[text] } }

    /// Verifies the signature, which takes some 100 µs.
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

    /// - Returns: nil for a token that is never valid.
    private static func valid(_ token: ProviderTokenText) -> ClosedRange<Int64>? {
        let (issued, isBeforeTime) = token.issuedAt.subtractingReportingOverflow(leeway)
        let (oldest, isAfterTime) = token.issuedAt.addingReportingOverflow(lifetime)
        let (last, isNever) = (token.expiresAt ?? .max).subtractingReportingOverflow(1)
        let first = max(issued, token.notBefore ?? issued)
        guard !isBeforeTime, !isAfterTime, !isNever, first <= min(oldest, last) else { return nil }
        return first...min(oldest, last)
    }

    /// The places of another access's keys in this one.
    ///
    /// - Parameter keys: their places in the other one.
    /// - Returns: the places of the keys that both have.
    func places(of keys: [Int], in other: SubmitterAccess) -> [Int] {
        let sought = keys.map { other.keys[$0] }
        return self.keys.indices.filter { index in sought.contains { $0.verifiesAs(self.keys[index]) } }
    }

    /// Whether one of the keys belongs to the route that serves the notification.
    func serves(_ keys: [Int], _ notification: borrowing PushNotification) -> Bool {
        let topic = notification.topic
        // Where routes share topics, each has a key for its environment.
        if sharesTopics,
            let route = producer.serving(
                topic: topic, in: notification.environment, preferring: notification.preferredEnvironment)
        {
            return keys.contains { index in
                let key = self.keys[index].settings
                guard key.environment == nil || key.environment == route.environment else { return false }
                return route.isNamed ? key.topics?.contains(topic) == true : key.topics == nil
            }
        }
        return keys.contains { index in
            if let topics = self.keys[index].settings.topics {
                topics.contains(topic)
            } else {
                !producer.isNamed(topic: topic)
            }
        }
    }
}

extension SubmitterKey {
    /// Whether its file is checked for changes.
    fileprivate var isWatched: Bool { reloadEvery != nil }
}
