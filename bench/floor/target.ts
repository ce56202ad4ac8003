/** What jobs call: answers two letters, on one port of as many loopback addresses as asked for. */
const [hosts] = process.argv.slice(2)
const serve = (host: number, port: number | undefined) =>
  Bun.serve({ hostname: `127.0.0.${host}`, port, fetch: () => new Response('ok') })

const { port, url } = serve(1, 0)
for (let host = 2; host <= Number(hosts); host++) serve(host, port)
console.log(JSON.stringify({ url: url.origin }))
