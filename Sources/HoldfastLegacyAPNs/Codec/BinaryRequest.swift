/// A notification as it came over the binary protocol. What is missing or of the wrong size is for whoever asked to judge:
/// they owe the status that names it.
package struct BinaryRequest: Hashable, Sendable {
    /// 0, 1 or 2.
    package var command: UInt8
    /// Nil where the command has none (0), or the frame left it out: an error can't name it then.
    package var identifier: UInt32?
    /// Nil when it is missing, which is status 2; of a wrong size it is status 5.
    package var token: [UInt8]?
    /// Nil when it is missing, which is status 4.
    package var payload: [UInt8]?
    /// Unix seconds; 0 to keep nothing for a device that is offline. Nil when it was not said.
    package var expiration: UInt32?
    /// 10 or 5; or whatever came. Nil when it was not said.
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

    /// Writes it as its command does: items in the order 3, 1, 2, 4, 5, those that are nil left out. For tests and relays;
    /// ``BinaryFrameWriter`` writes what is packed.
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

/// What a client has sent is no request. Nothing behind it can be read: answer with this, and close.
package struct BinaryRequestFault: Error, Hashable, Sendable {
    package let answer: ErrorResponse
    /// For people.
    package let message: String
}
