import HoldfastAPNs

/// A push service that misbehaves, and knows what it took. Of our own making or another's: a matrix is made of faults, and a
/// fault starts one of these for its trial.
///
/// What it must do of its own: take what is in order; refuse ``Sample/badTokens(of:)`` with 410 Unregistered each time; allow
/// ``Fault/streams`` streams at most; misbehave ``ServiceRecord/faults`` times, and then no more, so that every trial ends.
protocol FaultyService: Sendable {
    /// `https://127.0.0.1:4567`
    var endpoint: String { get }
    /// PEM.
    var trustedCertificateFile: String { get }
    /// nil where it does not look at provider tokens.
    var signingKey: APNsSigningKey? { get }

    /// What it has seen. Called when every notification has its outcome.
    func record() async throws -> ServiceRecord
    func stop() async throws
}

/// What a service saw in one trial.
struct ServiceRecord: Sendable {
    /// How often each notification was taken.
    var taken: [UInt8]
    /// How often the fault happened.
    var faults = 0
    /// Connections that came.
    var connections = 0
    /// How often a connection brought a notification behind a later one.
    var descents = 0

    /// The last notification of each connection.
    private var last: [Int: Int] = [:]

    init(count: Int) { taken = [UInt8](repeating: 0, count: count) }

    /// Takes note of a request.
    ///
    /// - Parameter connection: a number of its own for each.
    mutating func add(_ index: Int, isTaken: Bool, connection: Int) {
        guard taken.indices.contains(index) else { return }
        if isTaken, taken[index] < .max { taken[index] += 1 }
        if let last = last[connection], last > index { descents += 1 }
        last[connection] = index
    }

    /// How often a notification was taken after its first time.
    var duplicates: Int { taken.reduce(0) { $0 + max(0, Int($1) - 1) } }
}
