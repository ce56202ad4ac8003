import { sealedColumn } from '../../platform/sealing/column.ts'
import { passepartoutAttempts, passepartoutBots } from './schema.ts'

export const botToken = sealedColumn({
  column: passepartoutBots.token,
  purpose: 'bot tokens',
  named: { id: passepartoutBots.id },
  boundTo: ({ id }) => `passepartout_bots/${id}/token`,
})

export const loginToken = sealedColumn({
  column: passepartoutAttempts.accessToken,
  purpose: 'login tokens',
  named: { id: passepartoutAttempts.id },
  boundTo: ({ id }) => `passepartout_attempts/${id}/access_token`,
})

/** The sealed columns of passepartout. */
export const sealed = [botToken, loginToken]
