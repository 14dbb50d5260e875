import HoldfastLMDB

/// The number of the newest addition to the blacklist, in its `facts` under "numbered": kept apart from the entries, for
/// the newest of them may be removed, and its number is not to be given twice.
enum LastNumber {
    static let key = Array("numbered".utf8)

    static func put(
        _ number: UInt64, _ transaction: borrowing WriteTransaction, _ facts: Table
    ) throws(LMDBError) {
        try transaction.put(key.span, NumberRecord.bytes(number, key: key).span, in: facts)
    }

    /// The last number that was given. If it cannot be read, it returns and stores a number that was certainly not exceeded.
    ///
    /// It is missing from a journal of an older format, whose entries have no numbers, and from a salvaged one, which may
    /// have lost additions. In those the next number lies far beyond any that an application may have noted.
    static func find(
        _ transaction: borrowing WriteTransaction, _ tables: BlacklistTables, _ facts: Table
    ) throws(LMDBError) -> UInt64 {
        if let bytes = try transaction.get(key.span, in: facts),
            let found = NumberRecord.value(bytes, key: key), found.isChecked
        {
            return found.number
        }
        var greatest: UInt64 = 0
        for (part, table) in tables.all { greatest = max(greatest, try Self.greatest(in: table, part, transaction)) }
        let (jumped, overflow) = greatest.addingReportingOverflow(CopyRule.jump)
        let number = greatest == 0 || overflow ? greatest : jumped
        try put(number, transaction, facts)
        return number
    }

    private static func greatest(
        in table: Table, _ part: BlacklistPlace.Part, _ transaction: borrowing WriteTransaction
    ) throws(LMDBError) -> UInt64 {
        try transaction.withCursor(table) { (cursor: inout Cursor) throws(LMDBError) -> UInt64 in
            var greatest: UInt64 = 0
            var isThere = try cursor.first()
            while isThere {
                cursor.withCurrent { key, value in
                    let row = RecipientRow(place: BlacklistPlace(part: part, key: key.array), value: value.array)
                    greatest = max(greatest, row.uncheckedNumber)
                }
                isThere = try cursor.next()
            }
            return greatest
        }
    }
}
