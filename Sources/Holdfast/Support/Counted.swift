/// `1 entry`, `2 entries`
package func counted(_ count: some BinaryInteger, _ one: String, _ many: String) -> String {
    "\(count) \(count == 1 ? one : many)"
}
