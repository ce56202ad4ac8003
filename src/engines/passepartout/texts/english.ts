import type { Wording } from './wording.ts'

const approve = 'Approve'
const deny = 'Deny'
const beginAgain = 'To sign in, go back to where you came from and begin again.'
const nextOne = (start: string | null) =>
  start === null
    ? 'The next one is possible in a few minutes.'
    : `The next one is possible from ${start} on.`

export const english: Wording = {
  approve,
  deny,
  question: (app) => `Sign in to ${app}?`,
  facts: { label: 'Where', device: 'Device', address: 'IP address', time: 'Time' },
  on: 'on',
  warning: [
    'Go on only if you have just started this yourself.',
    'The staff never asks you to approve a sign-in for them, and nobody else should. Whoever does wants to get into your account.',
  ],
  tapNumber: `Tap the number that is shown where you are signing in. If it is not among these, it is not you who is signing in: tap “${deny}”.`,
  tapButton: `Is it you? Tap “${approve}”. If in doubt, tap “${deny}”.`,

  outcomes: {
    approved: ({ app, time }) =>
      `You signed in to ${app} at ${time}.\nGo back to where you came from.`,
    denied: ({ app, time }) =>
      `You denied a sign-in to ${app} at ${time}.\nNobody was signed in. There is nothing more to do.`,
    mismatched: ({ app }) =>
      `That was not the right number. Nobody was signed in to ${app}.\nIf it was you, go back to where you came from and begin again.`,
    expired: ({ app }) => `This sign-in to ${app} has expired.\n${beginAgain}`,
  },

  notices: {
    approved: 'You are signed in.',
    denied: 'Denied. Nobody was signed in.',
    mismatched: 'Not the right number. Nobody was signed in.',
    expired: 'This sign-in has expired. Please begin again.',
    over: 'This has already been answered.',
    not_yours: 'This sign-in is for somebody else.',
  },

  replies: {
    hello: ({ app }) =>
      `This bot signs you in to ${app}.\nTo sign in, begin there and follow the link to this bot.`,
    unknown_link: () => `This link does not work.\n${beginAgain}`,
    expired_link: () => `This link has expired.\n${beginAgain}`,
    taken_link: () =>
      `Somebody else has already opened this link, so it does not work for you.\n${beginAgain}`,
    answered_link: () => `This sign-in is over.\n${beginAgain}`,
    cooling_down: ({ app, start }) =>
      `A sign-in to ${app} was denied here a short while ago.\nThere is a pause now, to keep you safe. ${nextOne(start)}`,
    too_many: ({ app, start }) =>
      `There were too many sign-ins to ${app} in a short time.\n${nextOne(start)}`,
  },
}
