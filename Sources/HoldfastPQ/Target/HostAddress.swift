internal import HoldfastPlatform

/// Addresses of the Internet's, as texts.
enum HostAddress {
    /// Whether a host is an address already, so that no name has to be looked up.
    static func isNumeric(_ host: String) -> Bool { v4(host) != nil || v6(host) != nil }

    /// Whether it is an address of `127.0.0.0/8`, or `::1`.
    static func isLoopback(_ host: String) -> Bool {
        if let bits = v4(host) { return bits.first == 127 }
        guard let bits = v6(host) else { return false }
        return bits.dropLast().allSatisfy { $0 == 0 } && bits.last == 1
    }

    private static func v4(_ text: String) -> [UInt8]? { bytes(text, AF_INET, count: 4) }

    /// An address with a zone (`fe80::1%eth0`) is one without it.
    private static func v6(_ text: String) -> [UInt8]? {
        bytes(String(text.prefix { $0 != "%" }), AF_INET6, count: 16)
    }

    private static func bytes(_ text: String, _ family: Int32, count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        return unsafe inet_pton(family, text, &bytes) == 1 ? bytes : nil
    }
}
