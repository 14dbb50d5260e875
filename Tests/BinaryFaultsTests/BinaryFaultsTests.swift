import Foundation
import Testing

/// A short run of what `Scripts/binary-faults` does at length: see Docs/BinaryProtocol.md.
@Suite("A service of the binary protocol that misbehaves") struct BinaryFaultsTests {
}
