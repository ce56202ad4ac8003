import { get } from 'node:http'
import { localUrl } from '../http/urls.ts'
import { type Command, EXIT } from './command.ts'

const TIMEOUT_MS = 5000

export const healthcheck: Command = {
  name: 'healthcheck',
  summary: 'Check whether the server is ready, for containers and monitors.',
  run: async ({ config }) => {
    const url = `${localUrl(config.server)}/readyz`
    const status = await statusOf(url)
    const ready = status === 200
    return {
      json: { url, ready, status },
      text: ready ? `ready: ${url}` : `not ready: ${url} ${status ?? 'does not respond'}`,
      exit: ready ? EXIT.ok : EXIT.failure,
    }
  },
}

/** The status of a GET, or null without an answer. Uses node:http, because fetch would use a proxy. */
const statusOf = (url: string): Promise<number | null> =>
  new Promise((resolve) => {
    const request = get(url, { timeout: TIMEOUT_MS, agent: false }, (response) => {
      response.resume()
      resolve(response.statusCode ?? null)
    })
    request.on('timeout', () => request.destroy())
    request.on('error', () => resolve(null))
    request.on('close', () => resolve(null))
  })
