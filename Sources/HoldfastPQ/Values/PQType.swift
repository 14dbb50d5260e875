/// The types of values that are sent and read, by PostgreSQL's numbers. These are part of its catalog and never change.
package struct PQType: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    package static let bool = Self(rawValue: 16)
    package static let bytea = Self(rawValue: 17)
    package static let name = Self(rawValue: 19)
    package static let int8 = Self(rawValue: 20)
    package static let int2 = Self(rawValue: 21)
    package static let int4 = Self(rawValue: 23)
    package static let text = Self(rawValue: 25)
    package static let varchar = Self(rawValue: 1043)
    package static let uuid = Self(rawValue: 2950)
    package static let byteaArray = Self(rawValue: 1001)
    package static let int8Array = Self(rawValue: 1016)
    package static let uuidArray = Self(rawValue: 2951)

    package var description: String {
        switch self {
        case .bool: "bool"
        case .bytea: "bytea"
        case .name: "name"
        case .int8: "int8"
        case .int2: "int2"
        case .int4: "int4"
        case .text: "text"
        case .varchar: "varchar"
        case .uuid: "uuid"
        case .byteaArray: "bytea[]"
        case .int8Array: "int8[]"
        case .uuidArray: "uuid[]"
        default: "type \(rawValue)"
        }
    }
}
