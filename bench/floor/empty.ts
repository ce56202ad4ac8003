/** Two letters as fast as Bun can: what the load generator can ask for at most. */
const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response('ok') })
console.log(JSON.stringify({ url: server.url.origin }))
