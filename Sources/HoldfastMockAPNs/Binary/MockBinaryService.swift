import HoldfastMocking

/// The state that the connections of one ``MockBinaryServer`` share.
final class MockBinaryService: Sendable {
    let configuration: MockBinaryConfiguration
    let ledger: Ledger?
    let counters = Locked(MockBinaryCounters())
    let behavior: Locked<MockBinaryBehavior?>
    private let rejections: [Token: MockBinaryStatus]

    /// A token of 32 bytes, quick to compare.
    private struct Token: Hashable {
        let words: SIMD4<UInt64>

        init(_ bytes: Span<UInt8>) {
            var words = SIMD4<UInt64>()
            for index in 0..<min(32, bytes.count) { words[index / 8] = words[index / 8] << 8 | UInt64(bytes[index]) }
            self.words = words
        }
    }

    init(_ configuration: MockBinaryConfiguration, ledger: Ledger?) {
        self.configuration = configuration
        self.ledger = ledger
        behavior = Locked(configuration.behavior)
        var rejections: [Token: MockBinaryStatus] = [:]
        for (token, status) in configuration.rejections {
            let digits = Array(token.lowercased().utf8).compactMap(ASCII.hexValue)
            let bytes = stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
            rejections[Token(bytes.span)] = status
        }
        self.rejections = rejections
    }

    /// The configured refusal of a valid frame's token; nil for none.
    func rejection(of frame: BinaryFrameReader.Frame, in bytes: Span<UInt8>) -> MockBinaryStatus? {
        rejections.isEmpty ? nil : rejections[Token(bytes.extracting(frame.token))]
    }
}
