extension [UInt8] {
    /// Whether these are the bytes in a range of others.
    ///
    /// By hand, since topics are compared for each notification, and `elementsEqual` takes 25 instructions a byte for it.
    @inlinable package func equals(_ range: Range<Int>, of bytes: [UInt8]) -> Bool {
        guard count == range.count else { return false }
        for index in indices where self[index] != bytes[range.lowerBound &+ index] { return false }
        return true
    }
}
