private import CHoldfastOpenSSL

/// Owns a BIO over memory: bytes in, or bytes out, for OpenSSL's PEM readers and writers.
@safe
struct MemoryBIO: ~Copyable {
    let pointer: OpaquePointer

    /// An empty one, to write to.
    init() throws(OpenSSLError) {
        unsafe pointer = try check(BIO_new(BIO_s_mem()), "cannot allocate a buffer")
    }

    /// Creates a BIO with a copy of `bytes`, to read from.
    init(_ bytes: Span<UInt8>) throws(OpenSSLError) {
        guard bytes.count <= Int(Int32.max) else { throw OpenSSLError("\(bytes.count) bytes are too many") }
        let bio = unsafe try check(BIO_new(BIO_s_mem()), "cannot allocate a buffer")
        let written = unsafe bytes.withUnsafeBufferPointer { buffer in
            unsafe BIO_write(bio, buffer.baseAddress, CInt(buffer.count))
        }
        guard written == CInt(bytes.count) || bytes.isEmpty else {
            unsafe BIO_free_all(bio)
            throw .taking("cannot fill a buffer")
        }
        unsafe pointer = unsafe bio
    }

    deinit { unsafe BIO_free_all(pointer) }

    /// The bytes written and not yet read.
    func contents() -> [UInt8] {
        var all: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = unsafe BIO_read(pointer, &chunk, CInt(chunk.count))
            guard count > 0 else { return all }
            all.append(contentsOf: chunk.prefix(Int(count)))
        }
    }
}
