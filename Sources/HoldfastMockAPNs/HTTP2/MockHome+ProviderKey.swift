import HoldfastMocking
import HoldfastOpenSSL

extension MockHome {
    /// The names of the files with the key that signs provider tokens, and its public half.
    static let providerKeyFile = "AuthKey.p8"
    static let providerPublicKeyFile = "AuthKey.pub.pem"

    /// The key that signs provider tokens, made where there is none.
    func providerKey() throws -> ES256PrivateKey {
        let key: ES256PrivateKey
        if let pem = try files.read(Self.providerKeyFile) {
            key = try files.naming(Self.providerKeyFile) { () throws(OpenSSLError) in try ES256PrivateKey(pem: pem) }
        } else {
            key = try ES256PrivateKey()
            try files.write(key.pem(), to: Self.providerKeyFile, isSecret: true)
        }
        let publicPEM = try key.publicKey.pem()
        if try files.read(Self.providerPublicKeyFile) != publicPEM {
            try files.write(publicPEM, to: Self.providerPublicKeyFile, isSecret: false)
        }
        return key
    }
}
