import Holdfast
import HoldfastLMDB

/// Remembers which rows were taken out of the queue of the journal's gate.
extension CommitDraft {
    /// Notes that a commit forgets at most: more than one, so that they get fewer.
    private static let forgottenAtOnce = 4

    /// Notes the rows that this commit takes, in its effects: so whoever has the journal next knows them, too.
    func noteTaken() throws(LMDBError) {
        guard !taken.isEmpty, let number = try WorkingCopy.nextNumber(in: transaction) else { return }
        try forgetTaken()
        let note = TakenNote(number: number, nextUID: state.facts.nextUID, acceptedAt: takenAt, rows: taken)
        try setNote(TakenNote.key(number), note.value)
    }

    private func forgetTaken() throws(LMDBError) {
        var last: UInt64?
        let (nextUID, time, prefix) = (state.facts.nextUID, takenAt, TakenNote.prefix)
        try transaction.withCursor(tables.notes) { (cursor: inout Cursor) throws(LMDBError) in
            var found = try cursor.seek(atLeast: prefix.span)
            var count = 0
            while found, count < Self.forgottenAtOnce {
                var number: UInt64?
                // One that can't be read is of no use.
                var isOld = true
                cursor.withCurrent { key, value in
                    number = TakenNote.number(of: key.array)
                    let note = TakenNote(key: key.array, record: value.array)
                    isOld = note?.isOld(nextUID: nextUID, at: time) ?? true
                }
                guard let number, isOld else { return }
                try cursor.delete()
                last = number
                count += 1
                found = try cursor.next()
            }
        }
        guard let last else { return }
        var value: [UInt8] = []
        value.appendLittleEndian(last)
        try setNote(Array(TakenNote.forgottenName.utf8), value)
    }
}
