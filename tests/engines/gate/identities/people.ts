export * from '../fixture.ts'
