import Holdfast

/// The notifications of a trial, which their tokens number.
enum Sample {
    static let topic = "com.example.app"

    static func notification(_ index: Int, _ guarantee: Guarantee) -> PushNotification? {
        guard let token = DeviceToken(bytes: token(index)) else { return nil }
        return PushNotification(
            token: token, topic: topic, payload: Array(#"{"aps":{"alert":"Number \#(index)"}}"#.utf8),
            guarantee: guarantee)
    }

    static func token(_ index: Int) -> [UInt8] {
        [UInt8](repeating: 0x5A, count: 24) + (0..<8).map { UInt8(truncatingIfNeeded: index >> (56 - 8 * $0)) }
    }

    static func index(of token: [UInt8]) -> Int? {
        token.count == 32 ? token[24...].reduce(0) { $0 << 8 | Int($1) } : nil
    }

    /// - Parameter token: as it stands in a path or a ledger.
    static func index(ofHex token: some StringProtocol) -> Int? {
        token.utf8.count == 64 ? Int(token.suffix(16), radix: 16) : nil
    }

    /// One in every hundred, in its middle: answered with 410 Unregistered, whatever else happens.
    static func isBad(_ index: Int) -> Bool { index % 100 == 49 }

    static func badTokens(of count: Int) -> [String] {
        (0..<count).filter(isBad).map { Hex.string(token($0)) }
    }
}
