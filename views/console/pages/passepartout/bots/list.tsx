import type { Bot } from '../../../../../src/engines/passepartout/index.ts'
import type { Environment } from '../../../../../src/platform/engines.ts'
import { Facts } from '../../../facts.tsx'
import { ActionButton, LinkButton } from '../../../form/button.tsx'
import { PageHead } from '../../../page-head.tsx'
import { Columns, Section } from '../../../section.tsx'
import { StatusBadge } from '../../../status-badge.tsx'
import { LongText, Text } from '../../../text.tsx'
import { ABOUT, BOT_TITLES, type BotRights, isSetUp, pathOf, stateOf } from './state.tsx'

/** The two bots of a tenant. */
export const BotsPage = (page: {
  base: string
  bots: Record<Environment, Bot | undefined>
  rights: BotRights
}) => {
  const { base, bots, rights } = page
  return (
    <>
      <PageHead title="Bots" state={stateOf('live', bots.live)} />
      <Columns>
        <BotCard base={base} environment="live" bot={bots.live} rights={rights} />
        <BotCard base={base} environment="test" bot={bots.test} rights={rights} />
      </Columns>
    </>
  )
}

const BotCard = (card: {
  base: string
  environment: Environment
  bot: Bot | undefined
  rights: BotRights
}) => {
  const { base, environment, bot, rights } = card
  const isReady = isSetUp(environment, bot)
  return (
    <Section
      id={environment}
      title={BOT_TITLES[environment]}
      note={ABOUT[environment]}
      isCard
      aside={
        <>
          {rights.mayChange && isReady && <UseButton {...card} />}
          <LinkButton
            isSmall
            weight={rights.mayChange && !isReady ? 'primary' : 'plain'}
            href={pathOf(base, environment)}
          >
            {rights.mayChange && !isReady ? 'Set up bot' : 'View bot'}
          </LinkButton>
        </>
      }
    >
      <Facts
        facts={[
          ['Status', <StatusBadge tone={stateOf(environment, bot).tone} word={wordOn(card)} />],
          ...(bot?.username
            ? ([
                ['Name', <Text text={bot.name ?? bot.username} limit={64} />],
                ['Username', <code>@{bot.username}</code>],
              ] as const)
            : []),
          ...(bot?.enabled && bot.issue
            ? [['Reason', <LongText text={bot.issue} />] as const]
            : []),
        ]}
      />
    </Section>
  )
}

function wordOn({ environment, bot }: { environment: Environment; bot: Bot | undefined }): string {
  if (!isSetUp(environment, bot)) return 'not set up'
  if (!bot?.enabled) return 'disabled'
  return bot.status === 'ok' ? 'working' : 'not working'
}

/** Next step: enable the bot or start a test login. */
const UseButton = (of: { base: string; environment: Environment; bot: Bot | undefined }) => (
  <ActionButton
    isSmall
    weight={of.bot?.enabled ? 'plain' : 'primary'}
    action={pathOf(of.base, of.environment, of.bot?.enabled ? 'try' : 'enable')}
  >
    {of.bot?.enabled ? 'Start test login' : 'Enable bot'}
  </ActionButton>
)
