/// Things that some streams need beside their slot, kept where an index finds them, their memory used again.
struct Slab<Element: Sendable>: Sendable {
    private var elements: [Element] = []
    private var free: [Int32] = []

    /// Puts an element in; `make` is asked only when none is left over from before.
    @inline(__always)
    mutating func take(_ make: @autoclosure () -> Element) -> Int32 {
        if let index = free.popLast() { return index }
        elements.append(make())
        return Int32(truncatingIfNeeded: elements.count - 1)
    }

    /// Gives an index back. The element stays, for its memory: its owner empties it.
    @inline(__always)
    mutating func release(_ index: Int32) { free.append(index) }

    @inline(__always)
    subscript(index: Int32) -> Element {
        _read { yield elements[Int(index)] }
        _modify { yield &elements[Int(index)] }
    }
}
