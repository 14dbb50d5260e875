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
}
