/** What jobs call: answers two letters on every address of loopback. */
const server = Bun.serve({ hostname: '0.0.0.0', port: 0, fetch: () => new Response('ok') })
console.log(JSON.stringify({ url: `http://127.0.0.1:${server.port}` }))
