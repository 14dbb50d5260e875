import Holdfast

extension EntryRecord {
    /// - Parameter bytes: the record.
    func fields(in bytes: [UInt8]) throws(Fault) -> PackedNotification.Fields {
        do throws(PackedNotification.Damage) {
            return try PackedNotification.Fields(bytes.span, in: body)
        } catch {
            if case .version(let version) = error { throw .newer(version) }
            throw .damaged("its notification is \(error)")
        }
    }
}
