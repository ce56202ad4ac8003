import type { IconName } from '../../../../views/ui/icons.tsx'
import { GOALS, type Goal } from '../../checklist/goals.ts'

interface GoalWords {
  title: string
  text: string
  icon: IconName
  /** Its first item on the checklist, which its guide completes. */
  firstResult: string
}

export const GOAL_WORDS: Readonly<Record<Goal, GoalWords>> = {
  users: {
    title: 'Sign in users',
    text: 'Hosted sign-up and sign-in pages, sessions and two-factor authentication for your app.',
    icon: 'identities',
    firstResult: 'Sign up a test user',
  },
  jobs: {
    title: 'Schedule jobs',
    text: 'HTTP requests on a cron schedule or once at a set time, with retries and a log of every run.',
    icon: 'jobs',
    firstResult: 'Run your first job',
  },
  webhooks: {
    title: 'Send webhooks',
    text: 'Signed events to the endpoints of your customers, with retries, replay and a delivery log.',
    icon: 'deliveries',
    firstResult: 'Deliver your first event',
  },
  'messenger-login': {
    title: 'Messenger login',
    text: 'Users approve a sign-in in Telegram. Try it with the test bot, without a Telegram account.',
    icon: 'bots',
    firstResult: 'Approve a test login',
  },
}

/** Path of a goal's guide. */
export const guideOf = (goal: Goal): string => `/get-started/${goal}`

export { GOALS, type Goal }
