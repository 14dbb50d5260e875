import Testing

@testable import HoldfastGateway

@Suite("Names of clients") struct ClientNamesTests {
    private func fits(
        _ name: String, _ kind: ClientSubject.Kind = .any, subject: String = "CN=x", commonName: String? = nil,
        hosts: [String] = []
    ) -> Bool {
        ClientNames(subject: subject, commonName: commonName, hosts: hosts).fit(ClientSubject(name, kind: kind))
    }

    @Test("A whole subject fits as it is, and with its letters escaped as openssl prints them")
    func subjects() {
        let subject = "CN=müller\\, sons,O=Example"
        for name in [subject, "CN=m\\C3\\BCller\\, sons,O=Example", "CN=m\\c3\\bcller\\2C sons,O=Example"] {
            #expect(fits(name, subject: subject) && fits(name, .subject, subject: subject))
        }
        for name in [
            "CN=mller\\, sons,O=Example", "CN=müller, sons,O=Example", "CN=müller\\, sons",
            "O=Example,CN=müller\\, sons", "CN=müller\\, sons+O=Example",
        ] {
            #expect(!fits(name, subject: subject))
        }
        #expect(fits("CN=a\\+b", subject: "CN=a\\+b") && !fits("CN=a+b", subject: "CN=a\\+b"))
        #expect(!fits("CN=#0401", subject: "CN=\\#0401") && fits("CN=\\#0401", subject: "CN=\\#0401"))
    }

    @Test("A common name that reads like a whole subject is none")
    func commonNameLikeASubject() {
        let subject = "CN=CN=ship\\,O=Example"
        #expect(!fits("CN=ship,O=Example", subject: subject, commonName: "CN=ship,O=Example"))
        #expect(fits("CN=ship,O=Example", .commonName, subject: subject, commonName: "CN=ship,O=Example"))
        #expect(fits(subject, subject: subject, commonName: "CN=ship,O=Example"))
    }

    @Test("A name of one kind does not pass for another; without a kind a common name or a host name does")
    func kinds() {
        for kind in ClientSubject.Kind.allCases {
            #expect(fits("a.example", kind, commonName: "a.example") == [.any, .commonName].contains(kind))
            #expect(fits("A.example", kind, hosts: ["a.EXAMPLE"]) == [.any, .hostName].contains(kind))
            #expect(!fits("A.example", kind, commonName: "a.example"))
        }
    }
}
