export { scheduleOf } from './cache.ts'
export { countOccurrences, parseSchedule, type Schedule } from './schedule.ts'
export { scheduleWarnings } from './warnings.ts'
export { describeSchedule } from './words.ts'
