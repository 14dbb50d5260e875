internal import HoldfastOpenSSL

/// A bounded set of certificates. A new one evicts the oldest.
struct RememberedCertificates {
    private let limit: Int
    private(set) var all: [Certificate] = []
    /// Their DER, in the same order.
    private var bytes: [[UInt8]] = []
    private var known: Set<[UInt8]> = []

    init(limit: Int) { self.limit = limit }

    /// - Parameter bytes: its DER.
    mutating func add(_ certificate: Certificate, _ bytes: [UInt8]) {
        guard known.insert(bytes).inserted else { return }
        if all.count == limit {
            all.removeFirst()
            known.remove(self.bytes.removeFirst())
        }
        all.append(certificate)
        self.bytes.append(bytes)
    }
}
