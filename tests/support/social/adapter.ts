import type { Adapter, AdapterPayload } from 'oidc-provider'

/** Keeps what a provider remembers for as long as it runs. */
export function memoryAdapter(): (name: string) => Adapter {
  const kept = new Map<string, AdapterPayload>()

  const find = (fits: (payload: AdapterPayload) => boolean) =>
    Promise.resolve([...kept.values()].find(fits))

  return (name) => ({
    upsert: async (id, payload) => void kept.set(`${name}:${id}`, payload),
    find: async (id) => kept.get(`${name}:${id}`),
    findByUid: (uid) => find((payload) => payload.uid === uid && payload.kind === name),
    findByUserCode: (code) => find((payload) => payload.userCode === code),
    consume: async (id) => {
      const payload = kept.get(`${name}:${id}`)
      if (payload) payload.consumed = Math.floor(Date.now() / 1000)
    },
    destroy: async (id) => void kept.delete(`${name}:${id}`),
    revokeByGrantId: async (grantId) => {
      for (const [key, payload] of kept) if (payload.grantId === grantId) kept.delete(key)
    },
  })
}
