extension [UInt8] {
    /// Whether these bytes equal a range of others.
    ///
    /// Compares eight bytes at a time, since topics are compared for each notification, and `elementsEqual` takes 25
    /// instructions a byte.
    @inlinable package func equals(_ range: Range<Int>, of bytes: [UInt8]) -> Bool {
        guard count == range.count else { return false }
        let (these, others) = (span, bytes.span)
        var index = 0
        while index &+ 8 <= these.count {
            guard these.littleEndian64(at: index) == others.littleEndian64(at: range.lowerBound &+ index) else {
                return false
            }
            index &+= 8
        }
        while index < these.count {
            guard these[index] == others[range.lowerBound &+ index] else { return false }
            index &+= 1
        }
        return true
    }
}
