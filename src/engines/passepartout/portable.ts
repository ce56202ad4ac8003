import { eq, isNotNull, or } from 'drizzle-orm'
import { invalid } from '../../platform/errors.ts'
import { sealedText } from '../../platform/portable/fields.ts'
import { asItIs, type Portable, type PortableTable } from '../../platform/portable/table.ts'
import { passepartoutBots, passepartoutPeople } from './schema.ts'
import { botToken } from './sealed.ts'
import type { BotRow } from './store/bots.ts'
import type { PersonRow } from './store/people.ts'

const person: PortableTable<PersonRow> = {
  kind: 'messenger_person',
  table: passepartoutPeople,
  columns: {
    id: asItIs,
    tenantId: asItIs,
    platform: asItIs,
    platformUserId: asItIs,
    username: asItIs,
    firstName: asItIs,
    lastName: asItIs,
    languageCode: asItIs,
    createdAt: asItIs,
    updatedAt: asItIs,
  },
  order: ['platform', 'platformUserId'],
}

const asNew = (value: string | number | null) => ({
  leftOut: 'determined again after the move',
  instead: () => value,
})

const bot: PortableTable<BotRow> = {
  kind: 'bot',
  table: passepartoutBots,
  columns: {
    id: asItIs,
    tenantId: asItIs,
    environment: asItIs,
    platform: asItIs,
    platformBotId: asItIs,
    username: asItIs,
    name: asItIs,
    token: sealedText(botToken),
    isEnabled: asItIs,
    match: asItIs,
    transport: asItIs,
    revision: asNew(0),
    health: asNew('ok'),
    issue: asNew(null),
    updateOffset: asNew(null),
    offsetAt: asNew(null),
    leaseOwner: asNew(null),
    createdAt: asItIs,
    updatedAt: asItIs,
  },
  order: ['environment'],
  only: or(eq(passepartoutBots.platform, 'sandbox'), isNotNull(passepartoutBots.token)),
  most: { rows: 2 },
  check({ environment, platform, token, platformBotId }) {
    const isSandbox = platform === 'sandbox'
    if (isSandbox !== (environment === 'test'))
      throw invalid('must be sandbox in test and telegram in live', {
        field: 'platform',
        rule: 'mismatch',
      })
    if (
      isSandbox
        ? token !== null || platformBotId !== null
        : token === null || platformBotId === null
    )
      throw invalid('must be set for a Telegram bot, and only for one', {
        field: 'token',
        rule: 'mismatch',
      })
  },
}

/** The users of a tenant, and its bots. */
export const portable: Portable = {
  tables: [person, bot],
  leftOut: {
    passepartout_attempts: 'expire within minutes, or are history',
    passepartout_updates: 'belong to the installation that received them',
    passepartout_prompts: 'belong to sign-ins that are not exported',
    passepartout_tokens: 'users sign in again',
  },
}
