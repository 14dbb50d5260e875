import java.io.FileInputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** Java's own HTTP client, as senders without a library use it. README.md has the arguments. */
public final class JavaSender {
    private static final Set<Integer> LATER = Set.of(429, 500, 503);
    private final SSLContext tls;
    private volatile HttpClient client;
    private long replacedAt = System.nanoTime() - 1_000_000_000L;
    private final String address;
    private final String topic;

    public static void main(String[] arguments) throws Exception {
        int first = Integer.parseInt(arguments[4]);
        int end = first + Integer.parseInt(arguments[5]);
        int concurrency = Integer.parseInt(arguments[6]);
        Path told = Path.of(arguments[7]);
        var sender = new JavaSender(
            trusting(arguments[2]), "https://" + arguments[0] + ":" + arguments[1], arguments[3]);
        var next = new AtomicInteger(first);
        var threads = Executors.newFixedThreadPool(concurrency);
        for (int i = 0; i < concurrency; i++) {
            threads.execute(() -> {
                try {
                    for (int number = next.getAndIncrement(); number < end; number = next.getAndIncrement()) {
                        sender.sendUntilTold(number);
                        synchronized (told) {
                            Files.writeString(
                                told, number + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
                        }
                    }
                } catch (Exception problem) {
                    System.err.println(problem.getMessage());
                    System.exit(1);
                }
            });
        }
        threads.shutdown();
        threads.awaitTermination(1, TimeUnit.DAYS);
        System.exit(0);
    }

    private JavaSender(SSLContext tls, String address, String topic) {
        this.tls = tls;
        this.client = newClient();
        this.address = address;
        this.topic = topic;
    }

    private HttpClient newClient() {
        return HttpClient.newBuilder().version(HttpClient.Version.HTTP_2).sslContext(tls).build();
    }

    /**
     * A client whose connection breaks during its handshake may never complete what waits for that connection, whatever
     * timeout the requests have; or it takes the server for one without HTTP/2, and speaks nothing but HTTP/1.1 to it for the
     * rest of its life (both seen with JDK 17). So there is a limit of our own, and behind a failure another client, at most
     * one a second: those that were left keep their threads until they are collected.
     */
    private HttpResponse<String> send(HttpRequest request) throws Exception {
        var used = client;
        try {
            return used.sendAsync(request, HttpResponse.BodyHandlers.ofString()).get(5, TimeUnit.SECONDS);
        } catch (TimeoutException | ExecutionException failure) {
            replace(used);
            throw new IOException("no answer", failure);
        }
    }

    private synchronized void replace(HttpClient used) {
        long now = System.nanoTime();
        if (client != used || now - replacedAt < 1_000_000_000L) return;
        client = newClient();
        replacedAt = now;
    }

    private static SSLContext trusting(String file) throws Exception {
        var store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null);
        try (var stream = new FileInputStream(file)) {
            store.setCertificateEntry("ca", CertificateFactory.getInstance("X.509").generateCertificate(stream));
        }
        var trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(store);
        var context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        return context;
    }

    private void sendUntilTold(int number) throws Exception {
        while (true) {
            try {
                var answer = send(request(number));
                if (answer.statusCode() == 200) return;
                if (!LATER.contains(answer.statusCode())) {
                    throw new IllegalStateException(
                        number + " was refused: " + answer.statusCode() + " " + answer.body());
                }
                var seconds = answer.headers().firstValueAsLong("retry-after");
                Thread.sleep(seconds.isPresent() ? Math.min(seconds.getAsLong(), 5) * 1000 : 200);
            } catch (IOException noAnswer) {
                Thread.sleep(100);
            }
        }
    }

    private HttpRequest request(int number) {
        return HttpRequest.newBuilder(URI.create(address + String.format("/3/device/%064x", number)))
            .header("apns-topic", topic)
            .header("apns-push-type", "alert")
            // One for each notification, so that what is sent again can be seen to be the same.
            .header("apns-id", String.format("00000000-0000-4000-8000-%012x", number))
            .POST(HttpRequest.BodyPublishers.ofString(
                "{\"aps\":{\"alert\":\"Number " + number + "\",\"sound\":\"default\"}}"))
            .build();
    }
}
