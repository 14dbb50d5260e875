import Foundation
import Holdfast
import Testing

@Suite("Hex digits")
struct HexTests {
    @Test("Every byte is read from its digits, of either case, and from nothing else") func bytes() {
        let all = (0...255).map { UInt8($0) }
        let digits = Hex.string(all)
        #expect(Hex.bytes(digits) == all)
        #expect(Hex.bytes(digits.uppercased()) == all)
        #expect(Hex.bytes("") == [])
        #expect(Hex.bytes("abc") == nil)
        for byte in all where !digits.utf8.contains(byte) && !digits.uppercased().utf8.contains(byte) {
            #expect(Hex.bytes([0x30, byte].span) == nil, "\(byte)")
            #expect(Hex.bytes([byte, 0x30, 0x30, 0x30].span) == nil, "\(byte)")
        }
    }

    @Test("Bytes of any number are written as their digits") func appended() {
        for count in 0..<40 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: 37 * $0 + 11) }
            var output: [UInt8] = [1]
            Hex.append(bytes[...], to: &output)
            Hex.append(bytes.dropFirst(3), to: &output)
            #expect(output == [1] + Array((Hex.string(bytes) + Hex.string(bytes.dropFirst(3))).utf8))
        }
    }

    @Test("Digits of a value come out in their order, small, whichever they are") func digits() {
        var generator = Xoshiro256(seed: 1)
        for nibble in UInt32(0)..<16 {
            let digits = Hex.digits(of: nibble &<< 28 | 15 - nibble)
            #expect(UInt8(truncatingIfNeeded: digits &>> 56) == Hex.digit(UInt8(nibble)))
            #expect(UInt8(truncatingIfNeeded: digits) == Hex.digit(UInt8(15 - nibble)))
        }
        for _ in 0..<1000 {
            let value = UInt32(truncatingIfNeeded: generator.next())
            let plain = String(value, radix: 16)
            let text = withBytes(of: Hex.digits(of: value))
            #expect(text == String(repeating: "0", count: 8 - plain.count) + plain)
        }
    }

    private func withBytes(of digits: UInt64) -> String {
        String(decoding: (0..<8).map { UInt8(truncatingIfNeeded: digits &>> (56 - 8 * $0)) }, as: UTF8.self)
    }

    @Test("An apns-id is written as Foundation writes a UUID") func canonical() {
        var generator = Xoshiro256(seed: 2)
        for _ in 0..<1000 {
            let uuid = UUID.random(using: &generator)
            #expect(NotificationID(uuid.uuidString)?.description == uuid.uuidString.lowercased())
        }
    }
}
