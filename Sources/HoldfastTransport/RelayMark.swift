/// The field by which a gateway knows what another gateway sends: `via: 2 holdfast` (RFC 9110 section 7.6.3, which has it for
/// "avoiding request loops").
///
/// A gateway whose resolver leads the push service's name to a gateway, behind a port forward or a balancer, would deliver to
/// itself or to another of its fleet. What comes back has the ids of what the journal holds: it would be answered 200 as a
/// repeat and count as delivered, or go round for ever.
package enum RelayMark {
    /// In lower case.
    package static let field = "via"
    private static let name = "holdfast"
    /// The reason of the answer to what a gateway sends, with status 421.
    package static let refusal = "FromGateway"
    /// HTTP/2, which is what gateways send.
    package static let value = "2 \(name)"

    /// - Parameter values: of the request's `via` fields, each of which may name several.
    package static func isIn(_ values: [String]) -> Bool {
        values.contains { value in
            value.split(separator: ",").contains { passed in
                // The protocol, who received it, and perhaps a comment.
                let words = passed.split(separator: " ", maxSplits: 2)
                return words.count > 1 && words[1].lowercased() == name
            }
        }
    }
}

extension OwnListeners {
    /// The value of `via` in this process's requests; nil while it listens nowhere, and so is nobody's gateway.
    package var relayMark: String? { isEmpty ? nil : RelayMark.value }
}
