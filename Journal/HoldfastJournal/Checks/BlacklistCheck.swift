import Holdfast
import HoldfastLMDB

/// Checks the blacklist's rows.
struct BlacklistCheck {
    private let check: FileCheck
    private let walk: FileWalk
    private let tables: [(name: String, record: TreeRecord)]
    private let finding: DataFile.Finding

    init(
        _ check: FileCheck, _ walk: FileWalk, _ tables: [(name: String, record: TreeRecord)],
        _ finding: DataFile.Finding
    ) {
        self.check = check
        self.walk = walk
        self.tables = tables
        self.finding = finding
    }

    func run() {
        check.checkMap(finding, expected: UInt64(BlacklistTables.mapByteCount))
        let addresses = BlacklistPlace.Part.addresses.rawValue
        // It is made for the first one.
        let names = tables.contains { $0.name == addresses } ? BlacklistTables.everyName : BlacklistTables.requiredNames
        check.walk(walk, tables, names) { table, key, value, page in
            if table == "facts" {
                return fact(key, value.array, page)
            }
            if table == addresses { return address(key, value.array, page) }
            guard let token = DeviceToken(bytes: key) else {
                return check.add(
                    "a key of \(key.count) bytes is not a token", table: table, page: page, means: DamageMeaning.badRow)
            }
            row(RecipientRow(place: BlacklistPlace(token), value: value.array), page)
        }
    }

    private func address(_ key: [UInt8], _ value: [UInt8], _ page: UInt64) {
        let row = RecipientRow(place: BlacklistPlace(part: .addresses, key: key), value: value)
        self.row(row, page)
        // Its own key is the only one under which a look-up finds it.
        guard case .service(let address)? = row.recipient,
            case .success(let place) = Result(catching: { () throws(JournalError) in try BlacklistPlace(address) }),
            place.key != key
        else { return }
        check.add(
            "an entry is not under the key of its address", table: BlacklistPlace.Part.addresses.rawValue, page: page,
            means: DamageMeaning.badRow)
    }

    private func row(_ row: RecipientRow, _ page: UInt64) {
        do throws(EntryRecord.Fault) {
            _ = try row.entries()
        } catch {
            let name = row.recipient?.description ?? "an address"
            check.add(
                "the entry of \(name): \(error.words)", table: row.place.part.rawValue, page: page,
                means:
                    "Whether the \(row.place.part == .tokens ? "token" : "address") may be sent to cannot be told: its "
                    + "notifications wait, and all others go. "
                    + "`holdfast blacklist add` writes the entry anew, `blacklist remove` deletes it.")
        }
    }

    private func fact(_ key: [UInt8], _ value: [UInt8], _ page: UInt64) {
        switch key {
        case BlacklistTables.openingKey where value.count == 1 && (1...2).contains(value[0]): break
        case LastNumber.key:
            if NumberRecord.value(value, key: key)?.isChecked == true { break }
            check.add(
                "the number of the last addition is damaged", table: "facts", page: page,
                means: "The next addition's number is above all that are there, and feedback may be told twice.")
        case SealingRecord.key: check.checkSealing(value, page)
        case SealingRecord.indexKey where check.isSealed && value.count == 32: break
        case BlacklistMark.key where BlacklistMark.value(value) != nil: break
        default:
            check.add(
                "one of its rows is not what an opening writes", table: "facts", page: page, means: "Nothing reads it.")
        }
    }
}
