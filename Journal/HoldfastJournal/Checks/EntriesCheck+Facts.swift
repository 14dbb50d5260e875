import Holdfast
import HoldfastLMDB

/// The facts of the journal, its lanes and its Producers.
extension EntriesCheck {
    func fact(_ key: [UInt8], _ value: [UInt8], _ page: UInt64) {
        func damage(_ what: String, _ meaning: String) { check.add(what, table: "facts", page: page, means: meaning) }
        factKeys.insert(String(decoding: key, as: UTF8.self))
        switch key {
        case EntriesStore.formatKey:
            let version = value.count == 4 ? value.span.littleEndian32(at: 0) : 0
            format = version
            if !(EntriesStore.oldestFormat...EntriesStore.formatVersion).contains(version) {
                damage(
                    "the format is \(value.count == 4 ? "\(version)" : "not a number"); this Holdfast knows up to "
                        + "\(EntriesStore.formatVersion)",
                    "Either a newer Holdfast wrote the journal, or the number is damaged and no Holdfast opens it.")
            }
        case EntriesStore.stateKey:
            do throws(EntryRecord.Fault) {
                facts = try FactsRecord(value)
            } catch {
                damage("the journal's state: \(error.words)", "The journal does not open. Salvage it.")
            }
        case EntriesStore.limitKey:
            guard let (limit, isChecked) = NumberRecord.value(value, key: key) else {
                return damage("the limit's checksum or length is wrong", DamageMeaning.figures)
            }
            self.limit = limit
            if !isChecked {
                check.remark("The limit was stored without a checksum; the next opening stores it with one.")
            }
        case SealingRecord.key:
            check.checkSealing(value, page)
        case OutcomeTables.boundsKey:
            do throws(EntryRecord.Fault) {
                outcomeLog.bounds = try OutcomeLogBounds(value)
            } catch {
                damage(
                    "the bounds of the log of outcomes: \(error.words)",
                    "The next opening makes them anew; some numbers may be left out.")
            }
        default:
            damage("there is a fact that this Holdfast does not know", "Nothing reads it.")
        }
    }

    func checkFacts() {
        guard !check.torn.contains("facts"), tables.contains(where: { $0.name == "facts" }) else { return }
        // The first commit of a journal has the format alone.
        let isNew = factKeys == ["format"] && check.report.rows.values.reduce(0, +) == 1
        for key in ["format", "state", "limit"] where !factKeys.contains(key) && !isNew {
            check.add("the fact \(key) is missing", table: "facts", means: "The journal is not whole. Salvage it.")
        }
    }

    func lane(_ key: [UInt8], _ value: [UInt8], _ page: UInt64) {
        var record: LaneRecord?
        let number = UInt32(lanes.count) + 1
        if key != Key.lane(number).span.array {
            check.add(
                "the numbers of the lanes have a gap, or one is damaged", table: "lanes", page: page, lane: number,
                means: "The journal does not open. Salvage it.")
        }
        do throws(EntryRecord.Fault) {
            record = try LaneRecord(value)
        } catch {
            check.add(
                "the lane's record: \(error.words)", table: "lanes", page: page, lane: number,
                means: "The journal does not open. Salvage it.")
        }
        lanes.append(record)
        laneTallies.append(LaneTally())
    }

    func producer(_ key: [UInt8], _ value: [UInt8], _ page: UInt64) {
        var record: ProducerRecord?
        if key != Key.producer(UInt16(truncatingIfNeeded: producers.count + 1)).span.array {
            check.add(
                "the numbers of the Producers have a gap, or one is damaged", table: "producers", page: page,
                means: "The journal does not open. Salvage it.")
        }
        do throws(EntryRecord.Fault) {
            record = try ProducerRecord(value)
        } catch {
            check.add(
                "the record of Producer \(producers.count + 1): \(error.words)", table: "producers", page: page,
                means: "The journal does not open. Salvage it.")
        }
        producers.append(record)
        producerTallies.append(0)
    }
}
