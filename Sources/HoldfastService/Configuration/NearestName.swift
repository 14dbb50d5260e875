/// Finds the name that somebody may have meant.
package enum NearestName {
    /// The nearest of `names`, if it is near enough.
    package static func of(_ name: String, in names: some Sequence<String>) -> String? {
        guard name.utf8.count <= 64 else { return nil }
        let bound = max(1, name.utf8.count / 3)
        return names.map { (name: $0, distance: distance(name.lowercased(), $0.lowercased())) }
            .filter { $0.distance <= bound }.min { $0.distance < $1.distance }?.name
    }

    /// Insertions, deletions, replacements and swaps of neighbours that make one of the other.
    private static func distance(_ left: String, _ right: String) -> Int {
        let left = Array(left.utf8)
        let right = Array(right.utf8)
        var before: [Int] = []
        var last = Array(0...right.count)
        for (row, byte) in left.enumerated() {
            var line = [row + 1]
            for (column, other) in right.enumerated() {
                var least = min(line[column] + 1, last[column + 1] + 1, last[column] + (byte == other ? 0 : 1))
                if row > 0, column > 0, byte == right[column - 1], left[row - 1] == other {
                    least = min(least, before[column - 1] + 1)
                }
                line.append(least)
            }
            (before, last) = (last, line)
        }
        return last[right.count]
    }
}
