/// A notification as it came over the binary protocol. The caller judges missing fields and wrong sizes, because it
/// owes the status that names them.
package struct BinaryRequest: Hashable, Sendable {
    /// 0, 1 or 2.
    package var command: UInt8
    /// Nil where the command has no identifier (0), or the frame left it out: an error can't name the notification
    /// then.
    package var identifier: UInt32?
    /// Nil where it is missing (status 2). A wrong size is status 5.
    package var token: [UInt8]?
    /// Nil where it is missing (status 4).
    package var payload: [UInt8]?
    /// Unix seconds; 0 stores nothing for an offline device. Nil where it is missing.
    package var expiration: UInt32?
    /// 10 or 5, or any other value that came. Nil where it is missing.
    package var priority: UInt8?

    package init(
        command: UInt8, identifier: UInt32? = nil, token: [UInt8]? = nil, payload: [UInt8]? = nil,
        expiration: UInt32? = nil, priority: UInt8? = nil
    ) {
        self.command = command
        self.identifier = identifier
        self.token = token
        self.payload = payload
        self.expiration = expiration
        self.priority = priority
    }

    /// Appends the frame of its command: items in the order 3, 1, 2, 4, 5, nil ones left out. For tests and relays;
    /// ``BinaryFrameWriter`` writes packed notifications.
    package func append(to output: inout [UInt8]) {
        output.append(command)
        guard command == BinaryProtocol.Command.framed else {
            if command == BinaryProtocol.Command.enhanced {
                output.appendBigEndian(identifier ?? 0)
                output.appendBigEndian(expiration ?? 0)
            }
            for part in [token ?? [], payload ?? []] {
                output.appendBigEndian(UInt16(clamping: part.count))
                output += part
            }
            return
        }
        var items: [UInt8] = []
        func item(_ id: UInt8, _ data: [UInt8]?) {
            guard let data else { return }
            items.append(id)
            items.appendBigEndian(UInt16(clamping: data.count))
            items += data
        }
        func bytes(_ value: UInt32) -> [UInt8] {
            var data: [UInt8] = []
            data.appendBigEndian(value)
            return data
        }
        item(BinaryProtocol.Item.identifier, identifier.map(bytes))
        item(BinaryProtocol.Item.token, token)
        item(BinaryProtocol.Item.payload, payload)
        item(BinaryProtocol.Item.expiration, expiration.map(bytes))
        item(BinaryProtocol.Item.priority, priority.map { [$0] })
        output.appendBigEndian(UInt32(items.count))
        output += items
    }
}

/// The client's bytes are no request. Nothing behind them can be read: answer with this error, and close.
package struct BinaryRequestFault: Error, Hashable, Sendable {
    package let answer: ErrorResponse
    /// The fault in words, for operators.
    package let message: String
}
