import Holdfast
import HoldfastMockAPNs
import HoldfastMocking

/// What the service saw in one trial, from its observer.
final class ServiceRecord: Sendable {
    struct Contents: Sendable {
        /// How often each notification was taken.
        var taken: [UInt8]
        /// The last notification of each connection.
        fileprivate var last: [Int: Int] = [:]
        fileprivate var lastConnection = 0
        /// How often one was taken on another connection than the one before it: about as often as connections were
        /// made where they followed each other, and more often where they were used side by side.
        var switches = 0
        /// How often a connection brought a notification behind a later one.
        var descents = 0
        /// Error responses and barriers, whether they were answered or not.
        var errors = 0

        /// Good ones that were never taken.
        var lost: Int { taken.indices.count { !Sample.isBad($0) && taken[$0] == 0 } }
    }

    private let contents: Monitor<Contents>

    init(notifications: Int) {
        contents = Monitor(Contents(taken: [UInt8](repeating: 0, count: notifications)))
    }

    func add(_ exchanges: [MockBinaryExchange]) {
        contents.withLock { contents in
            for exchange in exchanges {
                let notification = exchange.notification
                if !exchange.isTaken || exchange.status != nil { contents.errors += 1 }
                if exchange.isTaken {
                    if contents.lastConnection != notification.connection { contents.switches += 1 }
                    contents.lastConnection = notification.connection
                }
                guard let index = Sample.index(of: notification.token) else { continue }
                if exchange.isTaken, contents.taken[index] < .max { contents.taken[index] += 1 }
                if let last = contents.last[notification.connection], last > index { contents.descents += 1 }
                contents.last[notification.connection] = index
            }
        }
    }

    func read() -> Contents { contents.withLock { $0 } }
}

/// The notifications of a trial, which their tokens number.
enum Sample {
    static func notification(_ index: Int) -> PushNotification? {
        guard let token = DeviceToken(bytes: token(index)) else { return nil }
        return PushNotification(
            token: token, topic: "com.example.app", payload: #"{"aps":{"alert":"Number \#(index)"},"id":\#(index)}"#)
    }

    static func token(_ index: Int) -> [UInt8] {
        [UInt8](repeating: 0x5A, count: 24) + (0..<8).map { UInt8(truncatingIfNeeded: index >> (56 - 8 * $0)) }
    }

    static func index(of token: [UInt8]) -> Int? {
        token.count == 32 ? token[24...].reduce(0) { $0 << 8 | Int($1) } : nil
    }

    /// One in every thousand, in its middle.
    static func isBad(_ index: Int) -> Bool { index % 1000 == 499 }

    static func rejections(of notifications: Int) -> [String: MockBinaryStatus] {
        var rejections: [String: MockBinaryStatus] = [:]
        for index in 0..<notifications where isBad(index) { rejections[Hex.string(token(index))] = .invalidToken }
        return rejections
    }
}
